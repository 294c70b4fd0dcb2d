import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { type Fetch, languageModel, type ProviderModel, type ProviderSettings } from './language-model.ts'
import { isExplicit, type ModelRef, type Provider, resolveModel } from './model-name.ts'

export interface ModelsOptions {
  /** How models are reached: the fetch of safe/outbound, whose allow-list names the model hosts. */
  readonly fetch: Fetch
  readonly providers: Readonly<Partial<Record<Provider, ProviderSettings>>>
  /** For hooks that name no model, or one that nobody here serves. */
  readonly default?: string
  /** Further short names, or other models for the usual ones. */
  readonly aliases?: Readonly<Record<string, string>>
}

/** Who answers, under which name. */
export interface ServedModel extends ModelRef {
  readonly language: ProviderModel
}

export interface Models {
  /** Finds the model, or fails with `prompt.model`. */
  find(name: string | undefined, tenant?: string): Promise<ServedModel>
}

const USUAL = 'haiku'

export function createModels(options: ModelsOptions): Models {
  const served = new Map<string, Promise<ServedModel>>()
  return {
    async find(name) {
      const ref = choose(name, options)
      const key = `${ref.provider}/${ref.model}`
      const known = served.get(key)
      if (known !== undefined) return known
      const settings = options.providers[ref.provider] ?? {}
      const found = languageModel(ref, settings, options.fetch).then((language) => ({ ...ref, language }))
      served.set(key, found)
      // A package that could not be loaded may be there next time.
      found.catch(() => served.delete(key))
      return found
    },
  }
}

function choose(name: string | undefined, options: ModelsOptions): ModelRef {
  const wanted = name ?? options.default ?? USUAL
  const ref = resolveModel(wanted, options)
  if (ref !== undefined) return ref
  const fallback =
    options.default === undefined || isExplicit(wanted) ? undefined : resolveModel(options.default, options)
  if (fallback !== undefined) return fallback
  throw handlerError('prompt.model', `no provider is configured for the model ${JSON.stringify(wanted)}`)
}
