import type { LanguageModel } from 'ai'
import type { ModelRef, Provider } from './model-name.ts'

export type Fetch = typeof globalThis.fetch

export interface ProviderSettings {
  /** Ends with the version: `https://api.anthropic.com/v1`. */
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Written out, because the packages would otherwise look into our environment. */
const homes: Readonly<Record<Provider, string>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  'openai-compatible': 'http://127.0.0.1:11434/v1',
}

/** The packages are loaded with the first call: each takes about a tenth of a second. */
export async function languageModel(
  { provider, model }: ModelRef,
  settings: ProviderSettings,
  fetch: Fetch,
): Promise<LanguageModel> {
  const { baseUrl = homes[provider], apiKey = '', headers = {} } = settings
  const common = { baseURL: baseUrl, apiKey, headers: { ...headers }, fetch }
  const { wrapLanguageModel } = await import('ai')
  const bare = await providerModel(provider, model, common)
  return wrapLanguageModel({ model: bare, middleware: quiet })
}

interface Common {
  readonly baseURL: string
  readonly apiKey: string
  readonly headers: Record<string, string>
  readonly fetch: Fetch
}

async function providerModel(provider: Provider, model: string, common: Common) {
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

/** A model without a temperature is no reason to write a warning on stderr with every call. */
const quiet: Parameters<typeof import('ai')['wrapLanguageModel']>[0]['middleware'] = {
  specificationVersion: 'v4',
  wrapGenerate: async ({ doGenerate }) => ({ ...(await doGenerate()), warnings: [] }),
}
