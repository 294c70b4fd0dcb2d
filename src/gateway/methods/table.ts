import { auditMethods } from './audit.ts'
import { budgetMethods } from './budgets.ts'
import { deliveryMethods } from './deliveries.ts'
import { eventMethods } from './events.ts'
import { executionMethods } from './executions.ts'
import { testHook } from './hook-test.ts'
import { hookMethods } from './hooks.ts'
import type { Method } from './method.ts'
import { providerMethods } from './providers.ts'
import { secretMethods } from './secrets.ts'
import { settingMethods } from './settings.ts'
import { statusMethods } from './status.ts'
import { tenantMethods } from './tenants.ts'
import { tokenMethods } from './tokens.ts'

/** Everything the gateway can do but dispatch. Doors, client, command line and OpenAPI document follow from it. */
export const methods = [
  ...hookMethods,
  testHook,
  ...executionMethods,
  ...eventMethods,
  ...statusMethods,
  ...budgetMethods,
  ...tenantMethods,
  ...tokenMethods,
  ...secretMethods,
  ...providerMethods,
  ...settingMethods,
  ...deliveryMethods,
  ...auditMethods,
] as const

type Row = (typeof methods)[number]

/** Name → what it takes and what it answers. */
export type Methods = {
  [M in Row as M['name']]: M extends Method<string, infer Params, infer Result>
    ? { readonly params: Params; readonly result: Result }
    : never
}

const byName = new Map<string, Method>(methods.map((row) => [row.name, row as Method]))

export function findMethod(name: string): Method | undefined {
  return byName.get(name)
}
