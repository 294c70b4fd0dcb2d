import { randomUUID } from 'node:crypto'
import type { NewDelivery } from '../deliveries/delivery-table.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { type Outcome, outcomes } from '../engine/core/hook.ts'
import type { Execution } from '../engine/core/records/sink.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { HookChainEvent, RulePayload } from './compile-rules.ts'
import { HOOK_FAILURE, type RuleGroup } from './files/recovery-rules.ts'
import type { RuleFolders } from './files/rule-file-paths.ts'
import type { RecoveryRule } from './files/rule-schema.ts'
import type { TenantRules } from './tenant-rules.ts'

/** The kind of deliveries that fire rules. */
export const RULE_TRIGGER = 'rule_trigger'

/** A dispatch that may trigger rules. */
export interface TriggerCause {
  readonly event: string
  readonly payload: unknown
  readonly envelope: Envelope & { readonly id: string; readonly tenant: string }
  readonly decision: Decision
  /** Whether any hook listens to the event. */
  readonly hasHooks: boolean
  readonly folders?: RuleFolders | undefined
  /** Only the failures of hooks may trigger rules, not the event. */
  readonly isOnlyFailures?: true
  /** The executions that failed, computed on request. */
  failures(): readonly Execution[]
}

/** The part of an envelope that firings need. */
export type TriggerEnvelope = Pick<
  Envelope,
  'session' | 'run' | 'agent' | 'agentId' | 'cwd' | 'time' | 'depth'
> & {
  readonly id: string
}

/** A rule that matches an event, with what its group decides. */
export interface MatchedRule {
  readonly source: string
  /** Separates rules of one group that have the same id. */
  readonly position: number
  readonly rule: RecoveryRule
  readonly maxChainDepth: number
  readonly cooldownMs: number
  readonly dedupWindowMs: number
}

/** What a delivery of the kind `rule_trigger` carries. */
export interface RuleTrigger {
  readonly event: HookChainEvent
  readonly envelope: TriggerEnvelope
  readonly matched: readonly MatchedRule[]
}

export interface RuleTriggers {
  /** Whether rules of the tenant may fire at all. Every dispatch asks. */
  isEnabled(tenant: string): boolean
  /** The work that an event causes: one delivery if a rule matches, else none. */
  deliveriesFor(cause: TriggerCause): readonly NewDelivery[] | Promise<readonly NewDelivery[]>
}

type TriggerParts = Pick<RuleTriggers, 'isEnabled'> & { readonly rules: TenantRules }

export function createRuleTriggers({ rules, isEnabled }: TriggerParts): RuleTriggers {
  return {
    isEnabled,
    deliveriesFor(cause) {
      const { tenant } = cause.envelope
      const groups = rules.groupsOf(tenant, cause.folders)
      return groups instanceof Promise
        ? groups.then((loaded) => triggerDeliveries(cause, loaded))
        : triggerDeliveries(cause, groups)
    },
  }
}

function triggerDeliveries(cause: TriggerCause, groups: readonly RuleGroup[]): readonly NewDelivery[] {
  const listens = (event: string) => groups.some(({ ruleSet }) => ruleSet.listens(event))
  const own = cause.isOnlyFailures !== true && listens(cause.event) ? [ruleEvent(cause)] : []
  const failed = listens(HOOK_FAILURE) ? cause.failures().map((failure) => failureEvent(cause, failure)) : []
  return [...own, ...failed].flatMap((event, index) => {
    const matched = groups.flatMap((group) =>
      group.ruleSet.matching(event).map((rule) => inGroup(group, rule)),
    )
    return matched.length === 0 ? [] : [toDelivery(cause, { event, matched }, index)]
  })
}

/** A rule with the values of its group where it has none. */
export function inGroup(group: RuleGroup, rule: RecoveryRule): MatchedRule {
  return {
    source: group.source,
    position: group.ruleSet.rules.indexOf(rule),
    rule,
    maxChainDepth: group.maxChainDepth,
    cooldownMs: rule.cooldownMs ?? group.defaultCooldownMs,
    dedupWindowMs: rule.dedupWindowMs ?? group.defaultDedupWindowMs,
  }
}

function toDelivery(
  { envelope }: TriggerCause,
  { event, matched }: Pick<RuleTrigger, 'event' | 'matched'>,
  index: number,
): NewDelivery {
  const { id, tenant, session, run, agent, agentId, cwd, time, depth } = envelope
  const kept = definedFields({ id, session, run, agent, agentId, cwd, time, depth })
  return {
    id: randomUUID(),
    tenant,
    kind: RULE_TRIGGER,
    dedup_key: `${RULE_TRIGGER}:${id}:${index}:${event.eventName}:${String(event.payload?.hook_id ?? '')}`,
    payload: JSON.stringify({ event, envelope: kept, matched }),
    created_at: time ?? 0,
  }
}

/** The event as rules see it: its payload, how it ended, and what its hooks made of it. */
export function ruleEvent(cause: Omit<TriggerCause, 'failures' | 'folders'>): HookChainEvent {
  const { event, payload, envelope, decision, hasHooks } = cause
  const isBlocked = decision.kind === 'block'
  const count = { hook_blocking_error_count: isBlocked ? 1 : 0 }
  const ofHooks =
    event === 'post_tool_use_failure'
      ? { ...count, hook_execution_skipped: !hasHooks }
      : event === 'task_completed'
        ? { ...count, hook_prevented_continuation: isBlocked }
        : {}
  const own = isRecord(payload) ? payload : {}
  return {
    eventName: event,
    outcome: outcomeOf(event, own, envelope.outcome, isBlocked),
    payload: { ...contextOf(envelope), ...own, ...ofHooks },
  }
}

/** What hosts put into the payloads of their own hooks. */
function contextOf({ session, run, agent, cwd, toolCall }: Envelope): RulePayload {
  return definedFields({ session_id: session, run_id: run, agent_name: agent, cwd, tool_use_id: toolCall })
}

function outcomeOf(event: string, payload: RulePayload, given: unknown, isBlocked: boolean): Outcome {
  // What is blocked here is not accepted as complete, whatever its sender says.
  if (event === 'task_completed' && isBlocked) return 'failed'
  const known = outcomes.find((name) => name === payload.outcome) ?? outcomes.find((name) => name === given)
  if (known !== undefined) return known
  if (event === 'post_tool_use_failure' || event === 'stop_failure' || event === 'run_error') return 'failed'
  if (event === 'run_timeout') return 'timeout'
  return event === 'task_completed' || event === 'post_tool_use' ? 'success' : 'unknown'
}

function failureEvent({ event, envelope, payload }: TriggerCause, failure: Execution): HookChainEvent {
  const { hook, decision, code, reason } = failure
  const tool =
    isRecord(payload) && typeof payload.tool_name === 'string' ? { tool_name: payload.tool_name } : {}
  return {
    eventName: HOOK_FAILURE,
    outcome: decision === 'timeout' ? 'timeout' : 'failed',
    payload: {
      ...contextOf(envelope),
      ...tool,
      hook_id: hook,
      hook_event: event,
      error: reason ?? code ?? decision,
      ...definedFields({ code }),
    },
  }
}
