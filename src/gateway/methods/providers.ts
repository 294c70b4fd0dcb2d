import { z } from 'zod'
import { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { providerKeyPath } from '../../store/paths.ts'
import type { ProviderRow } from '../../store/stores/vault-store.ts'
import { MASK } from '../hooks/config-secrets.ts'
import { listOf, noParams, text } from './fields.ts'
import { method } from './method.ts'

/** How often a change is tried anew because somebody else changed the same provider in between. */
const ATTEMPTS = 5

const name = z.enum(['anthropic', 'openai', 'google', 'openai-compatible'])

const provider = z.object({
  name: z.string(),
  baseUrl: z.string().nullable(),
  defaultModel: z.string().nullable(),
  apiKey: z.string().nullable().describe('Stars when there is one.'),
  updated_at: z.number(),
})

const list = method({
  name: 'providers.list',
  about: 'The providers of models that the tenant reaches on its own account.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/providers' },
  params: noParams,
  result: z.object({ providers: listOf(provider) }),
  async run({ caller, parts }) {
    const rows = await parts.store.listProviders(caller.tenant)
    return { providers: rows.map(shown) }
  },
})

const set = method({
  name: 'providers.set',
  about: 'Configures a provider. What is left out stays; null takes it away.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/providers/:name' },
  params: z.strictObject({
    name,
    baseUrl: text.nullable().exactOptional(),
    defaultModel: text.nullable().exactOptional(),
    apiKey: z.string().min(1, 'must not be empty').max(8_192).nullable().exactOptional(),
  }),
  result: z.object({ provider }),
  async run({ params, caller, parts }) {
    const { tenant } = caller
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await put()
      if (row === undefined) continue
      await parts.changed(tenant)
      return { provider: shown(row) }
    }
    throw serverError('gateway.conflict', `provider ${params.name} is being changed by others`, {
      hint: 'Read it again and repeat the change.',
    })

    /** Undefined when somebody else was faster: then the key that is kept may be another one. */
    async function put(): Promise<ProviderRow | undefined> {
      const before = (await parts.store.listProviders(tenant)).find((row) => row.name === params.name)
      const base_url = params.baseUrl === undefined ? (before?.base_url ?? null) : readUrl(params.baseUrl)
      const isKept = params.apiKey === undefined || params.apiKey === MASK
      const sealed_key = isKept ? (before?.sealed_key ?? null) : sealed(params.apiKey)
      // Else whoever changes the address could have the key sent to himself, which nobody may read.
      if (isKept && sealed_key !== null && originOf(base_url) !== originOf(before?.base_url ?? null))
        throw serverError('gateway.request', 'apiKey must be given again when the address changes')
      const row: ProviderRow = {
        tenant_id: tenant,
        name: params.name,
        base_url,
        default_model:
          params.defaultModel === undefined ? (before?.default_model ?? null) : params.defaultModel,
        sealed_key,
        updated_at: parts.clock.now(),
      }
      return (await parts.store.putProvider(row, before)) ? row : undefined
    }

    function sealed(key: string | null | undefined): string | null {
      if (key === null || key === undefined) return null
      return parts.secrets.encrypt(key, providerKeyPath(tenant, params.name))
    }
  },
})

const remove = method({
  name: 'providers.delete',
  about: 'Forgets a provider and its key.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/providers/:name' },
  params: z.strictObject({ name }),
  result: z.object({ name: z.string() }),
  async run({ params, caller, parts }) {
    if (!(await parts.store.deleteProvider(caller.tenant, params.name)))
      throw serverError('gateway.not_found', `provider not found: ${params.name}`)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

function shown({ name, base_url, default_model, sealed_key, updated_at }: ProviderRow) {
  return {
    name,
    baseUrl: base_url,
    defaultModel: default_model,
    apiKey: sealed_key === null ? null : MASK,
    updated_at,
  }
}

function readUrl(text: string | null): string | null {
  if (text === null) return null
  const url = URL.parse(text)
  if (url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '') return text
  throw new HookError('config.url', 'baseUrl must be an http or https address', {
    at: 'baseUrl',
    hint: 'Write `https://host/path`; the key belongs into apiKey.',
  })
}

function originOf(url: string | null): string {
  return url === null ? '' : (URL.parse(url)?.origin ?? url)
}

export const providerMethods = [list, set, remove] as const
