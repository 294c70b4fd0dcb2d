import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../access/caller.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { readSchema, schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { jsonObject, noParams } from '../methods/method-fields.ts'
import type { MethodParts } from '../methods/method-parts.ts'
import { maskSettings, unmaskSettings } from './setting-secrets.ts'
import { defaultSettings, settingsSchema } from './settings.ts'

/** Only the master scope may change these. */
const masterOnly: readonly string[] = [
  ...['allowed_hosts', 'header_variables', 'public_url', 'rate_limit', 'run_folders', 'smtp'],
]
/** Settings with secrets. Those of the whole gateway are shown to the master scope only. */
const gatewaySecrets: readonly string[] = ['smtp', 'approval_routes']
/** One value for the whole gateway. */
const gatewayOnly: readonly string[] = [
  'allowed_hosts',
  'public_url',
  'retention_days',
  'run_folders',
  'smtp',
]

const settings = schema.map(
  schema.object({ value: schema.any(), from: schema.choice(['default', 'file', 'gateway', 'tenant']) }),
)

const get = defineCall({
  name: 'settings.get',
  about: 'The settings in force and the source of each.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/settings' },
  params: noParams,
  result: schema.object({ settings }),
  needs: ['store', 'settings'],
  async run({ caller, parts }) {
    return { settings: await settingsWithSource(caller, parts) }
  },
})

const set = defineCall({
  name: 'settings.set',
  about: 'Changes settings of the tenant or of the whole gateway; null restores the inherited value.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/settings' },
  params: schema.object({
    settings: jsonObject(),
    scope: schema.optional(
      schema.choice(['tenant', 'gateway'], 'tenant if omitted; gateway needs the master scope.'),
    ),
  }),
  result: schema.object({ settings }),
  needs: ['store', 'settings', 'changed', 'clock'],
  async run({ params, caller, parts }) {
    const { scope = 'tenant', settings: given } = params
    assertMayChange(scope, given, caller)
    const tenant = scope === 'gateway' ? MASTER_TENANT : caller.tenant
    const open = unmaskSettings(given, await parts.store.readSettings(tenant))
    const wanted = Object.fromEntries(Object.entries(open).filter(([, value]) => value !== null))
    const [problem] = readSchema(settingsSchema, wanted).problems
    if (problem !== undefined) {
      const { message, hint } = problem
      throw serverError('gateway.setting', message, hint === undefined ? {} : { hint })
    }
    await parts.store.writeSettings(tenant, open, parts.clock.now())
    await parts.settings.reload(tenant)
    await parts.changed(tenant)
    return { settings: await settingsWithSource(caller, parts) }
  },
})

function assertMayChange(
  scope: 'tenant' | 'gateway',
  given: Readonly<Record<string, unknown>>,
  { master }: Caller,
): void {
  if (scope === 'gateway' && !master)
    throw serverError('auth.scope', 'settings of the whole gateway need the master scope')
  const beyond = Object.keys(given).find((name) => masterOnly.includes(name))
  if (beyond !== undefined && !master) throw serverError('auth.scope', `${beyond} needs the master scope`)
  // Null still removes a value that is stored for a tenant.
  const common = gatewayOnly.find((name) => given[name] !== undefined && given[name] !== null)
  if (scope === 'tenant' && common !== undefined)
    throw serverError('gateway.setting', `${common} is a setting of the whole gateway`, {
      hint: 'Send `scope: gateway`.',
    })
}

/** A setting that is not stored comes from config.yaml or is the default. */
async function settingsWithSource(
  { tenant, master }: Caller,
  { store, settings }: Pick<MethodParts, 'store' | 'settings'>,
) {
  const own = tenant === MASTER_TENANT ? {} : await store.readSettings(tenant)
  const all = await store.readSettings(MASTER_TENANT)
  await settings.reload(tenant)
  const originOf = (name: string, value: unknown) => {
    // The gateway may enforce a stricter value than the tenant's own.
    if (Object.hasOwn(own, name) && isDeepStrictEqual(own[name], value)) return 'tenant'
    if (Object.hasOwn(all, name)) return 'gateway'
    return isDeepStrictEqual(value, Reflect.get(defaultSettings, name)) ? 'default' : 'file'
  }
  const inForce = Object.entries(settings.of(tenant)).map(([name, value]) => {
    return { name, value: value as unknown, from: originOf(name, value) } as const
  })
  const values = maskSettings(Object.fromEntries(inForce.map(({ name, value }) => [name, value])))
  return Object.fromEntries(
    // How the gateway reaches people is for those who run it.
    inForce
      .filter(({ name, from }) => master || from === 'tenant' || !gatewaySecrets.includes(name))
      .map(({ name, from }) => [name, { value: values[name], from }]),
  )
}

export const settingMethods = [get, set] as const
