import { providerKeyPath } from '../database/sealed-paths.ts'
import { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { nullable, numeric } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { found, noParams, shortText } from '../methods/method-fields.ts'
import { MASK } from './config-secrets.ts'
import type { ProviderRow } from './secret-tables.ts'

/** Attempts to save a change while other callers change the same provider. */
const ATTEMPTS = 5

const name = schema.choice(['anthropic', 'openai', 'google', 'openai-compatible'])

const provider = schema.object({
  name: schema.text(),
  baseUrl: nullable(schema.text()),
  defaultModel: nullable(schema.text()),
  apiKey: nullable(schema.text('Masked; null if there is none.')),
  updated_at: numeric(),
})

const list = defineCall({
  name: 'providers.list',
  about: 'The model providers that the tenant has configured.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/providers' },
  params: noParams,
  result: schema.object({ providers: schema.list(provider) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listProviders(caller.tenant)
    return { providers: rows.map(maskedProvider) }
  },
})

const set = defineCall({
  name: 'providers.set',
  about: 'Configures a provider. Omitted fields keep their value; null removes one.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/providers/:name' },
  params: schema.object({
    name,
    ...schema.partial({
      baseUrl: nullable(shortText()),
      defaultModel: nullable(shortText()),
      apiKey: nullable(schema.text(undefined, { minLength: 1, maxLength: 8_192 })),
    }),
  }),
  result: schema.object({ provider }),
  needs: ['store', 'secrets', 'changed', 'clock'],
  async run({ params, caller, parts }) {
    const { tenant } = caller
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = await put()
      if (row === undefined) continue
      await parts.changed(tenant)
      return { provider: maskedProvider(row) }
    }
    throw serverError('gateway.conflict', `other callers keep changing the provider ${params.name}`, {
      hint: 'Read it again and repeat the change.',
    })

    /** Returns undefined if another caller saved first: the stored key may then be a different one. */
    async function put(): Promise<ProviderRow | undefined> {
      const before = (await parts.store.listProviders(tenant)).find((row) => row.name === params.name)
      const base_url = params.baseUrl === undefined ? (before?.base_url ?? null) : readUrl(params.baseUrl)
      const isKept = params.apiKey === undefined || params.apiKey === MASK
      const sealed_key = isKept ? (before?.sealed_key ?? null) : sealed(params.apiKey)
      // The key is write-only: a new address must not receive the stored one.
      if (isKept && sealed_key !== null && originOf(base_url) !== originOf(before?.base_url ?? null))
        throw serverError('gateway.request', 'send apiKey again when the address changes')
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

const remove = defineCall({
  name: 'providers.delete',
  about: 'Deletes a provider and its key.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/providers/:name' },
  params: schema.object({ name }),
  result: schema.object({ name: schema.text() }),
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteProvider(caller.tenant, params.name), 'provider', params.name)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

function maskedProvider({ name, base_url, default_model, sealed_key, updated_at }: ProviderRow) {
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
    hint: 'Write `https://host/path`; put the key into apiKey.',
  })
}

function originOf(url: string | null): string {
  return url === null ? '' : (URL.parse(url)?.origin ?? url)
}

export const providerMethods = [list, set, remove] as const
