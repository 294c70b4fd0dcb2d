import { secretPath } from '../database/sealed-paths.ts'
import { numeric, textLike } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { found, noParams } from '../methods/method-fields.ts'

/** The name that hooks use in `secret:NAME`. */
const name = textLike(/^[\w.-]{1,64}$/, 'be 1 to 64 letters, digits, _, . or -')
const MAX_VALUE = 8_192

const list = defineCall({
  name: 'secrets.list',
  about: 'The names of the secrets. Values are write-only.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/secrets' },
  params: noParams,
  result: schema.object({
    secrets: schema.list(schema.object({ name: schema.text(), updated_at: numeric() })),
  }),
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
  params: schema.object({
    name,
    value: schema.text(undefined, { minLength: 1, maxLength: MAX_VALUE }),
  }),
  result: schema.object({ name: schema.text() }),
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
  params: schema.object({ name }),
  result: schema.object({ name: schema.text() }),
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteSecret(caller.tenant, params.name), 'secret', params.name)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

export const secretMethods = [list, set, remove] as const
