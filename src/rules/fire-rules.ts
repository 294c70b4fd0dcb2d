import { randomUUID } from 'node:crypto'
import { v5 } from 'uuid'
import type { NewDelivery } from '../deliveries/delivery-table.ts'
import type { DeliverWork } from '../deliveries/delivery-worker.ts'
import { TRUSTED_LIMITS } from '../deliveries/delivery-worker.ts'
import { guardKey } from '../engine/guard/guard.ts'
import type { EventRecord } from '../history/audit-tables.ts'
import type { RunStore } from '../runs/stored/run-tables.ts'
import { parseJson } from '../safe/json.ts'
import { type ActionReport, actionRecord } from './actions/action-record.ts'
import type { HookChainEvent } from './compile-rules.ts'
import type { RecoveryRule } from './files/rule-schema.ts'
import { chainDepthSkip, cooldownSkip, dedupKey, ruleDepthSkip } from './rule-guards.ts'
import type {
  FiringResult,
  FiringRow,
  GuardWindow,
  NewFiring,
  NewFiringAction,
  RuleStore,
} from './stored/rule-tables.ts'
import type { MatchedRule, RuleTrigger, TriggerEnvelope } from './trigger-rules.ts'

/** The kind of deliveries that run the actions of a firing. */
export const RULE_ACTIONS = 'rule_actions'

/** What a firing keeps of its cause, so that its actions need nothing else. */
export interface FiringContent {
  readonly event: HookChainEvent
  readonly envelope: TriggerEnvelope
  readonly rule: RecoveryRule
  /** The dedup window of actions that have none of their own. */
  readonly dedupWindowMs?: number
}

interface FireParts {
  readonly store: Pick<RuleStore, 'fireRule'> & Pick<RunStore, 'findRun'>
  /** Writes records into the audit log. Rejects if they cannot be written. */
  record(records: readonly EventRecord[]): Promise<void>
  /** Called when actions were queued. */
  wakeDeliveries(): void
}

/** Fires the rules that an event met: in their order, each guard in its turn, every skip recorded. */
export function deliverRuleTrigger(parts: FireParts): DeliverWork {
  return async ({ tenant, payload }) => {
    const trigger = await withRunDepth(parts, tenant, parseJson(payload, TRUSTED_LIMITS) as RuleTrigger)
    const records: EventRecord[] = []
    for (const matched of trigger.matched) {
      const skip = await fireMatched(parts, { tenant, trigger, matched })
      if (skip !== undefined) records.push(skipRecord(skip, { tenant, trigger, matched }))
    }
    if (records.length > 0) await parts.record(records)
    return { end: 'done' }
  }
}

/** An event of a run is as deep as its run, whatever its sender says: otherwise a chain of rules would not end. */
async function withRunDepth(
  { store }: FireParts,
  tenant: string,
  trigger: RuleTrigger,
): Promise<RuleTrigger> {
  const { run, depth = 0 } = trigger.envelope
  const found = run === undefined ? undefined : await store.findRun(tenant, run)
  if (found === undefined || found.depth <= depth) return trigger
  return { ...trigger, envelope: { ...trigger.envelope, depth: found.depth } }
}

interface MatchedFiring {
  readonly tenant: string
  readonly trigger: RuleTrigger
  readonly matched: MatchedRule
}

/** Returns why the rule does not fire. */
async function fireMatched(parts: FireParts, firing: MatchedFiring): Promise<string | undefined> {
  const skip = depthSkip(firing.matched, firing.trigger.envelope.depth ?? 0)
  if (skip !== undefined) return skip
  const result: FiringResult = await parts.store.fireRule(newFiring(firing))
  if ('left_ms' in result) return cooldownSkip(result.left_ms)
  parts.wakeDeliveries()
  return undefined
}

/** Why a rule must not fire at this depth. */
export function depthSkip({ rule, maxChainDepth }: MatchedRule, depth: number): string | undefined {
  return chainDepthSkip(depth, maxChainDepth) ?? ruleDepthSkip(depth, rule.maxDepth)
}

/** The key of the cooldown of a rule. Rules of two files that have the same id do not share it. */
export function cooldownKey({ source, rule }: MatchedRule): string {
  return guardKey('rule', source, rule.id)
}

/** The id of an action in results: its own, or its type and position. */
export function actionIdOf({ actions }: RecoveryRule, position: number): string {
  const action = actions[position]
  return action?.id ?? `${action?.type ?? ''}:${position}`
}

/** What a stored firing keeps of its cause. Undefined if the key that sealed it is gone. */
export function firingContent({ content }: FiringRow): FiringContent | undefined {
  // Trusted: `newFiring` wrote it.
  return content === null ? undefined : (content as unknown as FiringContent)
}

/** The dedup windows that a firing armed, in the order of its actions. */
export function dedupWindowsOf(firing: FiringRow): readonly GuardWindow[] {
  const content = firingContent(firing)
  if (content === undefined) return []
  const { rule, event, dedupWindowMs } = content
  // A firing of an earlier version does not know the window of its group.
  const matched = { rule, source: firing.source, dedupWindowMs: dedupWindowMs ?? rule.dedupWindowMs ?? 0 }
  return firingActions(matched, event).map(({ dedup }) => ({ kind: 'dedup', ...dedup }))
}

/** The dedup window of each action for this event. */
export function firingActions(
  matched: Pick<MatchedRule, 'rule' | 'source' | 'dedupWindowMs'>,
  event: HookChainEvent,
): readonly NewFiringAction[] {
  const { rule, source, dedupWindowMs } = matched
  return rule.actions.map((action, position) => {
    const action_id = actionIdOf(rule, position)
    const key = dedupKey({ ruleId: rule.id, actionId: action_id, event, scope: source })
    return {
      action_id,
      action_type: action.type,
      enabled: action.enabled !== false,
      dedup: { key: `rule|${key}`, windowMs: action.dedupWindowMs ?? dedupWindowMs },
    }
  })
}

function newFiring({ tenant, trigger, matched }: MatchedFiring): NewFiring {
  const { event, envelope } = trigger
  const { rule, source, position } = matched
  const cause = [event.eventName, envelope.id, event.payload?.hook_id, source, rule.id, position]
  const firing_id = v5(JSON.stringify(cause), tenant)
  const content: FiringContent = { event, envelope, rule, dedupWindowMs: matched.dedupWindowMs }
  const delivery: NewDelivery = {
    ...{ id: randomUUID(), tenant, kind: RULE_ACTIONS, dedup_key: firing_id },
    payload: JSON.stringify({ firing_id }),
    created_at: envelope.time ?? 0,
  }
  return {
    ...{ firing_id, tenant_id: tenant, rule_id: rule.id, source, delivery },
    ...{ event_id: envelope.id, event: event.eventName, outcome: event.outcome },
    ...{ session_id: envelope.session ?? null, run_id: envelope.run ?? null, depth: envelope.depth ?? 0 },
    content: { ...content },
    cooldown: { key: cooldownKey(matched), windowMs: matched.cooldownMs },
    actions: firingActions(matched, event),
  }
}

/** One execution per action, as if each had been skipped by itself. */
function skipRecord(reason: string, { tenant, trigger, matched }: MatchedFiring): EventRecord {
  const { event, envelope } = trigger
  const { rule, source } = matched
  const reports = rule.actions.map(
    ({ type }, position): ActionReport => ({
      ...{ ruleId: rule.id, source, actionType: type, actionId: actionIdOf(rule, position) },
      key: `rule:${envelope.id}:${source}:${rule.id}:${matched.position}:${position}`,
      outcome: { status: 'skipped', reason },
    }),
  )
  return actionRecord({ tenant, event, envelope }, reports)
}
