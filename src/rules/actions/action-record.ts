import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { EventRecord, ExecutionRecord } from '../../history/audit-tables.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { HookChainEvent } from '../compile-rules.ts'
import type { TriggerEnvelope } from '../trigger-rules.ts'
import type { ActionOutcome } from './run-action.ts'

/** What happened to one action of a rule. */
export interface ActionReport {
  readonly ruleId: string
  readonly source: string
  readonly actionType: string
  readonly actionId: string
  /** Unique for ever, so that a repeated record adds nothing. */
  readonly key: string
  readonly outcome: ActionOutcome
  readonly firingId?: string
  /** The run that the action started. */
  readonly runId?: string
  readonly durationMs?: number
}

/** The event that the rule answers. */
export interface RecordedCause {
  readonly tenant: string
  readonly event: HookChainEvent
  readonly envelope: TriggerEnvelope
}

const decisions = { executed: 'allow', skipped: 'skipped', failed: 'error' } as const

/** The results of actions as executions of the event that triggered them. The record of the event itself stays as it is. */
export function actionRecord(
  { tenant, event, envelope }: RecordedCause,
  reports: readonly ActionReport[],
): EventRecord {
  return {
    tenant,
    event_id: envelope.id,
    event: event.eventName,
    time: envelope.time ?? 0,
    session_id: envelope.session ?? null,
    agent_id: envelope.agentId ?? null,
    kind: 'allow',
    by_hook: null,
    code: null,
    duration_ms: 0,
    request: JSON.stringify({ event: event.eventName, payload: event.payload ?? {} }),
    answer: '{}',
    executions: reports.map(toExecution),
  }
}

function toExecution(report: ActionReport): ExecutionRecord {
  const { ruleId, source, actionType, actionId, key, outcome, firingId, runId, durationMs = 0 } = report
  const { status, reason, detail } = outcome
  return {
    hook_id: `rule:${ruleId}`,
    handler_type: actionType,
    decision: decisions[status],
    duration_ms: durationMs,
    retry: 0,
    dedup_key: key,
    code: guardCode(reason),
    error: reason === undefined ? null : redact(reason),
    error_detail: reason ?? null,
    shadow: false,
    metadata: {
      ...{ rule_id: ruleId, rule_source: source, action_id: actionId, status },
      ...definedFields({ firing_id: firingId, run_id: runId }),
      ...definedFields({ detail: detail && redact(detail), reason: reason && redact(reason) }),
    },
    tally: { hook_name: `rule ${ruleId}` },
  }
}

/** The code of the guard that skipped an action. */
function guardCode(reason = ''): string | null {
  if (reason.includes('cooldown active')) return 'guard.cooldown'
  if (reason.includes('dedup window active')) return 'guard.dedup'
  return /^(?:max chain depth|rule maxDepth)/.test(reason) ? 'guard.depth' : null
}
