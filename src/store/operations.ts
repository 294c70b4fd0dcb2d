import { agentOperations } from './sql/agent-operations.ts'
import { approvalOperations } from './sql/approval-operations.ts'
import { approvalRouteOperations } from './sql/approval-routes.ts'
import { eventOperations } from './sql/audit/event-operations.ts'
import { historyOperations } from './sql/audit/history-operations.ts'
import { recordOperations } from './sql/audit/journal.ts'
import { retentionOperations } from './sql/audit/remove-audit.ts'
import { changeOperations } from './sql/change-operations.ts'
import { windowOperations } from './sql/clamp-windows.ts'
import { deliveryOperations } from './sql/delivery-operations.ts'
import { guardOperations } from './sql/guard-operations.ts'
import { hookOperations } from './sql/hook-operations.ts'
import { resealOperations } from './sql/reseal-operations.ts'
import { firingOperations } from './sql/rules/firing-operations.ts'
import { mailboxOperations } from './sql/rules/mailbox-operations.ts'
import { environmentOperations, ruleOperations, teamOperations } from './sql/rules/rule-operations.ts'
import { blueprintOperations, runHookOperations } from './sql/runs/blueprint-operations.ts'
import { runEventOperations } from './sql/runs/run-event-operations.ts'
import { runOperations, runSessionOperations } from './sql/runs/run-operations.ts'
import { runStateOperations } from './sql/runs/run-state.ts'
import { runnerOperations } from './sql/runs/runner-operations.ts'
import { sessionOperations } from './sql/session-operations.ts'
import { tenantOperations } from './sql/tenant-operations.ts'
import { vaultOperations } from './sql/vault-operations.ts'
import { eventListOperations } from './sql/views/event-list-operations.ts'
import { statisticOperations } from './sql/views/statistic-operations.ts'

/** Every operation of the store. What they are to callers follows from them: `Store`. */
export const operations = {
  ...tenantOperations,
  ...vaultOperations,
  ...resealOperations,
  ...hookOperations,
  ...changeOperations,
  ...recordOperations,
  ...historyOperations,
  ...eventOperations,
  ...eventListOperations,
  ...statisticOperations,
  ...retentionOperations,
  ...windowOperations,
  ...deliveryOperations,
  ...guardOperations,
  ...sessionOperations,
  ...agentOperations,
  ...blueprintOperations,
  ...runHookOperations,
  ...runOperations,
  ...runSessionOperations,
  ...runStateOperations,
  ...runnerOperations,
  ...runEventOperations,
  ...approvalOperations,
  ...approvalRouteOperations,
  ...ruleOperations,
  ...teamOperations,
  ...environmentOperations,
  ...mailboxOperations,
  ...firingOperations,
}
