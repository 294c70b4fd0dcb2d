import type { ModelsOptions } from '../handlers/model/models.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Model providers from the standard variables of each vendor. `HOOKHELM_MODEL` is the model of hooks that name none. */
export function localModels(env: Environment): Omit<ModelsOptions, 'fetch'> {
  const provider = (key: string | undefined, baseUrl: string | undefined) =>
    key === undefined && baseUrl === undefined
      ? undefined
      : { ...(key === undefined ? {} : { apiKey: key }), ...(baseUrl === undefined ? {} : { baseUrl }) }
  const providers = {
    anthropic: provider(env.ANTHROPIC_API_KEY, env.ANTHROPIC_BASE_URL),
    openai: provider(env.OPENAI_API_KEY, env.OPENAI_BASE_URL),
    google: provider(env.GOOGLE_GENERATIVE_AI_API_KEY ?? env.GEMINI_API_KEY, env.GOOGLE_GEMINI_BASE_URL),
    'openai-compatible': provider(env.HOOKHELM_MODEL_KEY, env.HOOKHELM_MODEL_URL),
  }
  const configured = Object.entries(providers).filter(([, settings]) => settings !== undefined)
  return {
    providers: Object.fromEntries(configured),
    ...(env.HOOKHELM_MODEL === undefined ? {} : { default: env.HOOKHELM_MODEL }),
  }
}

/** Private hosts that webhooks and models may call: `HOOKHELM_OUTBOUND_ALLOW`, separated by commas. */
export function outboundAllowed(env: Environment): string[] {
  return (env.HOOKHELM_OUTBOUND_ALLOW ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
