import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { secretPath } from '../../store/paths.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList } from './method-fields.ts'

/** The name that hooks use in `secret:NAME`. */
const name = z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, . or -')
const MAX_VALUE = 8_192

const list = defineCall({
  name: 'secrets.list',
  about: 'The names of the secrets. Values are write-only.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/secrets' },
  params: noParams,
  result: z.object({ secrets: readonlyList(z.object({ name: z.string(), updated_at: z.number() })) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listSecrets(caller.tenant)
    return { secrets: rows.map(({ name, updated_at }) => ({ name, updated_at })) }
  },
})

const set = defineCall({
  name: 'secrets.set',
  about: 'Stores a secret; hooks use it as `secret:NAME` in a header or as a webhook signing secret.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/secrets/:name' },
  params: z.strictObject({
    name,
    value: z.string().min(1, 'must not be empty').max(MAX_VALUE, `must have at most ${MAX_VALUE} characters`),
  }),
  result: z.object({ name: z.string() }),
  needs: ['store', 'secrets', 'changed', 'clock'],
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

const remove = defineCall({
  name: 'secrets.delete',
  about: 'Deletes a secret; hooks that use it fail afterwards.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/secrets/:name' },
  params: z.strictObject({ name }),
  result: z.object({ name: z.string() }),
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    if (!(await parts.store.deleteSecret(caller.tenant, params.name)))
      throw serverError('gateway.not_found', `secret not found: ${params.name}`)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

export const secretMethods = [list, set, remove] as const
