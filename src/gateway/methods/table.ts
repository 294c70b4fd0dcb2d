import type { SchemaType } from '../../engine/core/schema.ts'
import { approvalMethods } from './approvals.ts'
import { auditMethods } from './audit.ts'
import { blueprintMethods } from './blueprints.ts'
import { budgetMethods } from './budgets.ts'
import { callerMethods } from './caller.ts'
import { capabilityMethods } from './capabilities.ts'
import { changeMethods } from './changes.ts'
import { deliveryMethods } from './deliveries.ts'
import { demoMethods } from './demo.ts'
import { environmentMethods } from './environments.ts'
import { eventListMethods } from './event-list.ts'
import { eventMethods } from './events.ts'
import { executionMethods } from './executions.ts'
import { previewMethod } from './hook-preview.ts'
import { testHook } from './hook-test.ts'
import { hookMethods } from './hooks.ts'
import type { Method } from './method.ts'
import { packMethods } from './packs.ts'
import { providerMethods } from './providers.ts'
import { reportMethods } from './reports.ts'
import { ruleFiringMethods } from './rule-firings.ts'
import { ruleSimulationMethods } from './rule-simulation.ts'
import { ruleMethods } from './rules.ts'
import { runHookMethods } from './run-hooks.ts'
import { runSessionMethods } from './run-sessions.ts'
import { runnerMethods } from './runners.ts'
import { runMethods } from './runs.ts'
import { secretMethods } from './secrets.ts'
import { sessionMethods } from './sessions.ts'
import { settingMethods } from './settings.ts'
import { statMethods } from './stats.ts'
import { statusMethods } from './status.ts'
import { teamMethods } from './teams.ts'
import { tenantMethods } from './tenants.ts'
import { tokenMethods } from './tokens.ts'

/** Every method of the gateway. REST, WebSocket, SSE, OpenAPI, the client and the command line follow from it. */
export const methods = [
  ...hookMethods,
  testHook,
  previewMethod,
  ...packMethods,
  ...executionMethods,
  ...eventListMethods,
  ...eventMethods,
  ...sessionMethods,
  ...statMethods,
  ...callerMethods,
  ...capabilityMethods,
  ...statusMethods,
  ...changeMethods,
  ...budgetMethods,
  ...tenantMethods,
  ...tokenMethods,
  ...secretMethods,
  ...providerMethods,
  ...settingMethods,
  ...deliveryMethods,
  ...auditMethods,
  ...reportMethods,
  ...demoMethods,
  ...blueprintMethods,
  ...runHookMethods,
  ...runMethods,
  ...runSessionMethods,
  ...runnerMethods,
  ...approvalMethods,
  ...ruleMethods,
  ...ruleSimulationMethods,
  ...ruleFiringMethods,
  ...teamMethods,
  ...environmentMethods,
] as const

type Row = (typeof methods)[number]

/** Parameters and result of each method by name; for a subscription the result is one page. */
export type Methods = {
  [M in Row as M['name']]: {
    readonly params: SchemaType<M['params']>
    readonly result: SchemaType<M['result']>
  }
}

/** Parameters and items of each subscription by name. */
export type Subscriptions = {
  [M in Extract<Row, { kind: 'subscription' }> as M['name']]: {
    readonly params: SchemaType<M['params']>
    readonly item: SchemaType<M['item']>
  }
}

const byName = new Map<string, Method>(methods.map((row) => [row.name, row]))

export function findMethod(name: string): Method | undefined {
  return byName.get(name)
}
