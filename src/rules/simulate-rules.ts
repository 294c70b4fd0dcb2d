import { definedFields } from '../engine/core/values/defined-fields.ts'
import { type HookChainEvent, unmetCondition } from './compile-rules.ts'
import type { RuleGroup } from './files/recovery-rules.ts'
import type { RecoveryAction } from './files/rule-schema.ts'
import { actionIdOf, cooldownKey, depthSkip, firingActions } from './fire-rules.ts'
import type { SimulatedRule } from './methods/rule-simulation-methods.ts'
import { cooldownSkip, dedupSkip } from './rule-guards.ts'
import { type FiringEvent, fillTemplate } from './rule-templates.ts'
import type { RuleStore } from './stored/rule-tables.ts'
import { inGroup, type MatchedRule } from './trigger-rules.ts'

export interface SimulatedEvent {
  readonly tenant: string
  readonly event: HookChainEvent
  readonly depth: number
}

/** Tells for every rule whether it would fire, without firing it. */
export async function simulateRules(
  store: Pick<RuleStore, 'readWindows'>,
  groups: readonly RuleGroup[],
  simulated: SimulatedEvent,
): Promise<readonly SimulatedRule[]> {
  const rules = groups.flatMap((group) => group.ruleSet.rules.map((rule) => inGroup(group, rule)))
  return Promise.all(rules.map((matched) => simulateRule(store, matched, simulated)))
}

async function simulateRule(
  store: Pick<RuleStore, 'readWindows'>,
  matched: MatchedRule,
  { tenant, event, depth }: SimulatedEvent,
): Promise<SimulatedRule> {
  const { rule, source } = matched
  const unmet = unmetCondition(rule, event)
  const about = { id: rule.id, source, enabled: rule.enabled, matches: unmet === undefined }
  if (unmet !== undefined) return { ...about, unmet, actions: [] }
  const cooldown = { kind: 'cooldown', key: cooldownKey(matched), windowMs: matched.cooldownMs } as const
  const planned = firingActions(matched, event)
  const dedup = planned.map((action) => ({ kind: 'dedup' as const, ...action.dedup }))
  const left = await store.readWindows(tenant, [cooldown, ...dedup])
  const cooling = left[cooldown.key]
  const guard = depthSkip(matched, depth) ?? (cooling === undefined ? undefined : cooldownSkip(cooling))
  const actions = rule.actions.map((action, position) => {
    const window = left[planned[position]?.dedup.key ?? '']
    const skipped =
      guard ??
      (window === undefined ? undefined : dedupSkip(window)) ??
      (action.enabled === false ? 'action disabled' : undefined)
    const id = actionIdOf(rule, position)
    const would = describeAction(action, { ...event, ruleId: rule.id })
    return { id, type: action.type, would, ...definedFields({ skipped }) }
  })
  return { ...about, ...definedFields({ guard }), actions }
}

function describeAction(action: RecoveryAction, event: FiringEvent): string {
  switch (action.type) {
    case 'spawn_fallback_agent':
      return `start the agent ${action.agentType ?? 'general-purpose'}${action.model === undefined ? '' : ` with the model ${action.model}`}`
    case 'notify_team': {
      const { recipients = ['*'], teamName = 'the team of the event, or the default team' } = action
      const about = action.summary === undefined ? '' : `: ${fillTemplate(action.summary, event)}`
      return `notify ${recipients.join(', ')} of ${teamName}${about}`
    }
    case 'warm_remote_capacity':
      return 'start runners through the first environment that is switched on'
    case 'retry_run':
      return `repeat the run, at most ${action.maxRetries ?? 1} times`
    case 'run_command':
      return 'run a command'
    case 'call_webhook':
      return 'call a webhook'
  }
}
