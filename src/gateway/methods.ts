import { callerMethods } from '../access/methods/caller-methods.ts'
import { memberMethods } from '../access/methods/member-methods.ts'
import { tenantMethods } from '../access/methods/tenant-methods.ts'
import { tokenMethods } from '../access/methods/token-methods.ts'
import { approvalMethods } from '../approvals/approval-methods.ts'
import { deliveryMethods } from '../deliveries/delivery-methods.ts'
import type { SchemaType } from '../engine/core/schema/schema.ts'
import { auditMethods } from '../history/methods/audit-methods.ts'
import { eventListMethods } from '../history/methods/event-list-methods.ts'
import { eventMethods } from '../history/methods/event-methods.ts'
import { executionMethods } from '../history/methods/execution-methods.ts'
import { previewMethod } from '../history/methods/hook-preview-methods.ts'
import { sessionMethods } from '../history/methods/session-methods.ts'
import { statMethods } from '../history/methods/stat-methods.ts'
import type { Method } from '../methods/method.ts'
import { environmentMethods } from '../rules/methods/environment-methods.ts'
import { ruleFiringMethods } from '../rules/methods/rule-firing-methods.ts'
import { ruleMethods } from '../rules/methods/rule-methods.ts'
import { ruleSimulationMethods } from '../rules/methods/rule-simulation-methods.ts'
import { blueprintMethods } from '../runs/methods/blueprint-methods.ts'
import { runHookMethods } from '../runs/methods/run-hook-methods.ts'
import { runMethods } from '../runs/methods/run-methods.ts'
import { runSessionMethods } from '../runs/methods/run-session-methods.ts'
import { runnerMethods } from '../runs/methods/runner-methods.ts'
import { budgetMethods } from '../secrets/budget-methods.ts'
import { providerMethods } from '../secrets/provider-methods.ts'
import { secretMethods } from '../secrets/secret-methods.ts'
import { settingMethods } from '../settings/setting-methods.ts'
import { hookMethods } from '../stored-hooks/hook-methods.ts'
import { testHook } from '../stored-hooks/hook-test-methods.ts'
import { packMethods } from '../stored-hooks/pack-methods.ts'
import { teamMethods } from '../teams/team-methods.ts'
import { capabilityMethods } from './agents/capability-methods.ts'
import { reportMethods } from './agents/report-methods.ts'
import { changeMethods } from './change-methods.ts'
import { demoMethods } from './demo/demo-methods.ts'
import { statusMethods } from './status-methods.ts'

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
  ...memberMethods,
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
