import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { secretPath } from '../../store/paths.ts'
import { listOf, noParams } from './fields.ts'
import { method } from './method.ts'

/** As hooks name it behind `secret:`. */
const name = z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, . or -')
const MAX_VALUE = 8_192

const list = method({
  name: 'secrets.list',
  about: 'The names of the secrets. Values can be replaced and used, but never read.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/secrets' },
  params: noParams,
  result: z.object({ secrets: listOf(z.object({ name: z.string(), updated_at: z.number() })) }),
  async run({ caller, parts }) {
    const rows = await parts.store.listSecrets(caller.tenant)
    return { secrets: rows.map(({ name, updated_at }) => ({ name, updated_at })) }
  },
})

const set = method({
  name: 'secrets.set',
  about: 'Stores a secret; hooks use it as `secret:NAME` for a header or for what signs their webhooks.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/secrets/:name' },
  params: z.strictObject({
    name,
    value: z.string().min(1, 'must not be empty').max(MAX_VALUE, `must have at most ${MAX_VALUE} characters`),
  }),
  result: z.object({ name: z.string() }),
  async run({ params, caller, parts }) {
    const { tenant } = caller
    const sealed = parts.secrets.encrypt(params.value, secretPath(tenant, params.name))
    await parts.store.putSecret({
      tenant_id: tenant,
      name: params.name,
      sealed,
      updated_at: parts.clock.now(),
    })
    await parts.changed(tenant)
    return { name: params.name }
  },
})

const remove = method({
  name: 'secrets.delete',
  about: 'Deletes a secret; hooks that use it fail from then on.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/secrets/:name' },
  params: z.strictObject({ name }),
  result: z.object({ name: z.string() }),
  async run({ params, caller, parts }) {
    if (!(await parts.store.deleteSecret(caller.tenant, params.name)))
      throw serverError('gateway.not_found', `secret not found: ${params.name}`)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

export const secretMethods = [list, set, remove] as const
