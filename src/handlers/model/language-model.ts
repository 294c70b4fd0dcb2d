import type { wrapLanguageModel } from 'ai'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isMissingPackage } from '../../safe/missing-package.ts'
import type { ModelRef, Provider } from './model-name.ts'

/** A model that can be wrapped again. */
export type ProviderModel = ReturnType<typeof wrapLanguageModel>

export type Fetch = typeof globalThis.fetch

export interface ProviderSettings {
  /** Ends with the version: `https://api.anthropic.com/v1`. */
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Explicit, because the packages would otherwise read environment variables. */
const defaultUrls: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  'openai-compatible': 'http://127.0.0.1:11434/v1',
}

/** The packages are optional peers: most hooks ask no model. */
const packages: Readonly<Record<Provider, string>> = {
  anthropic: '@ai-sdk/anthropic',
  openai: '@ai-sdk/openai',
  google: '@ai-sdk/google',
  'openai-compatible': '@ai-sdk/openai-compatible',
}

/** Loads the provider's package with the first call. Throws `prompt.model` when it is not installed. */
export async function languageModel(
  { provider, model }: ModelRef,
  settings: ProviderSettings,
  fetch: Fetch,
): Promise<ProviderModel> {
  const { baseUrl = defaultUrls[provider], apiKey = '', headers = {} } = settings
  const common = { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch }
  try {
    const { wrapLanguageModel } = await import('ai')
    const bare = await providerModel(provider, model, common)
    return wrapLanguageModel({ model: bare, middleware: withoutWarnings })
  } catch (cause) {
    throw isMissingPackage(cause) ? packageMissing(provider, cause) : cause
  }
}

function packageMissing(provider: Provider, cause: unknown): HookError {
  const name = packages[provider]
  return handlerError('prompt.model', `the model provider ${provider} needs the packages ai and ${name}`, {
    hint: `Run \`npm install ai ${name}\` where hookhelm is installed.`,
    cause,
  })
}

async function providerModel(
  provider: Provider,
  model: string,
  common: { baseURL: string; apiKey: string; headers: Record<string, string>; fetch: Fetch },
) {
  switch (provider) {
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(common)(model)
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(common)(model)
    case 'google':
      return (await import('@ai-sdk/google')).createGoogle(common)(model)
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({ ...common, name: 'openai-compatible' })(model)
    }
  }
}

/** The packages print a warning with every call to a model that ignores `temperature`. */
const withoutWarnings: Parameters<typeof import('ai')['wrapLanguageModel']>[0]['middleware'] = {
  specificationVersion: 'v4',
  wrapGenerate: async ({ doGenerate }) => ({ ...(await doGenerate()), warnings: [] }),
}
