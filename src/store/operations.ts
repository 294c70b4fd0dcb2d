import { approvalOperations } from '../approvals/stored/approval-operations.ts'
import { approvalRouteOperations } from '../approvals/stored/approval-route-operations.ts'
import { deliveryOperations } from '../deliveries/delivery-operations.ts'
import { sessionOperations } from '../history/session-operations.ts'
import { eventOperations } from '../history/stored/event-operations.ts'
import { historyOperations } from '../history/stored/history-operations.ts'
import { recordOperations } from '../history/stored/journal.ts'
import { eventListOperations } from '../history/views/event-list-operations.ts'
import { statisticOperations } from '../history/views/statistic-operations.ts'
import { firingOperations } from '../rules/stored/firing-operations.ts'
import { environmentOperations, ruleOperations, teamOperations } from '../rules/stored/rule-operations.ts'
import { blueprintOperations, runHookOperations } from '../runs/stored/blueprint-operations.ts'
import { runEventOperations } from '../runs/stored/run-event-operations.ts'
import { runOperations, runSessionOperations } from '../runs/stored/run-operations.ts'
import { runStateOperations } from '../runs/stored/run-state.ts'
import { runnerOperations } from '../runs/stored/runner-operations.ts'
import { vaultOperations } from '../secrets/secret-operations.ts'
import { changeOperations } from '../stored-hooks/change-operations.ts'
import { guardOperations } from '../stored-hooks/guards/guard-operations.ts'
import { hookOperations } from '../stored-hooks/hook-operations.ts'
import { agentOperations } from '../stored-hooks/report-operations.ts'
import { mailboxOperations } from '../teams/mailbox-operations.ts'
import { windowOperations } from './clamp-windows.ts'
import { retentionOperations } from './remove-audit.ts'
import { resealOperations } from './reseal-operations.ts'
import { tenantOperations } from './tenant-operations.ts'

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
