import type { ModelsOptions } from './models.ts'

export type Provider = 'anthropic' | 'openai' | 'google' | 'openai-compatible'

export interface ModelRef {
  readonly provider: Provider
  readonly model: string
}

/** Short names and the model each stands for. */
const aliases: Readonly<Record<string, string>> = {
  haiku: 'claude-haiku-4-5',
  sonnet: 'claude-sonnet-4-5',
  opus: 'claude-opus-4-5',
}

/** What a name begins with tells whose model it is. */
const families: readonly (readonly [RegExp, Provider])[] = [
  [/^claude/, 'anthropic'],
  [/^(?:gpt|o1|o3)/, 'openai'],
  [/^gemini/, 'google'],
  [/^qwen/, 'openai-compatible'],
]

const explicit = /^(anthropic|openai|google|openai-compatible)\/(.+)$/

/**
 * `provider/model` means exactly that; else an alias, else the family the name belongs to, else a server that may
 * serve any name. Nothing when whoever would serve it is not configured.
 */
export function resolveModel(
  name: string,
  known: Pick<ModelsOptions, 'providers' | 'aliases'>,
): ModelRef | undefined {
  const alias = [known.aliases ?? {}, aliases].find((table) => Object.hasOwn(table, name))
  const ref = readName(alias?.[name] ?? name)
  return Object.hasOwn(known.providers, ref.provider) ? ref : undefined
}

export function isExplicit(name: string): boolean {
  return explicit.test(name)
}

function readName(name: string): ModelRef {
  const [, provider, model] = explicit.exec(name) ?? []
  if (model !== undefined && isProvider(provider)) return { provider, model }
  const family = families.find(([pattern]) => pattern.test(name))
  return { provider: family?.[1] ?? 'openai-compatible', model: name }
}

function isProvider(value: unknown): value is Provider {
  return families.some(([, provider]) => provider === value)
}
