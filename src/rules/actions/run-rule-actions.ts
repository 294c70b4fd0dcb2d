import { type DeliverWork, TRUSTED_LIMITS } from '../../deliveries/delivery-worker.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import type { EventRecord } from '../../history/audit-tables.ts'
import { parseJson } from '../../safe/json.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { readTeam } from '../../teams/teams.ts'
import type { RecoveryAction } from '../files/rule-schema.ts'
import { type FiringContent, firingContent } from '../fire-rules.ts'
import type { FiringAction, FiringRow } from '../stored/rule-tables.ts'
import { actionRecord } from './action-record.ts'
import { notifyMembers } from './notify-team.ts'
import { actionKey, type RuleActionCall, type RuleActionParts, type RuleActionResult } from './rule-action.ts'
import { type ActionHost, failed, runHostAction } from './run-action.ts'
import { retryRun, startFallback } from './start-runs.ts'
import { warmEnvironment } from './warm-capacity.ts'

interface RunActionsParts extends RuleActionParts {
  record(records: readonly EventRecord[]): Promise<void>
}

const TIMEOUT_MS = 60_000

/** Runs the actions of a firing, one after the other. A failed one does not stop the next. */
export function deliverRuleActions(parts: RunActionsParts): DeliverWork {
  return async ({ tenant, payload }) => {
    const given = parseJson(payload, TRUSTED_LIMITS)
    const firingId = isRecord(given) ? String(given.firing_id) : ''
    const firing = await parts.store.findFiring(tenant, firingId)
    if (firing === undefined) return { end: 'dead', error: 'the firing was deleted' }
    const content = firingContent(firing)
    for (const stored of firing.actions) {
      if (content !== undefined && (stored.status === 'pending' || stored.status === 'started'))
        await runStored(parts, { firing, content, stored })
      else if (content !== undefined && stored.reason !== null)
        await recordAction(parts, { firing, content, stored }, { status: 'skipped', reason: stored.reason })
    }
    return content === undefined
      ? { end: 'dead', error: 'the key that encrypted the firing is gone' }
      : { end: 'done' }
  }
}

interface StoredAction {
  readonly firing: FiringRow
  readonly content: FiringContent
  readonly stored: FiringAction
}

async function runStored(parts: RunActionsParts, { firing, content, stored }: StoredAction): Promise<void> {
  const { store, clock } = parts
  const { tenant_id: tenant, firing_id: firingId } = firing
  const { position } = stored
  const action = content.rule.actions[position]
  if (action === undefined) return
  const begun = clock.elapsed()
  const isFirst = stored.status === 'pending' && (await store.startAction(tenant, firingId, position))
  const call = { ...content, tenant, firingId, position, action }
  const result: RuleActionResult =
    isFirst || mayRepeat(action)
      ? await runAction(call, parts)
      : failed('the gateway stopped while the action ran; it is not repeated')
  const { status, reason, detail, runId } = result
  const texts = { reason: reason === undefined ? null : redact(reason), detail: detail ?? null }
  await store.endAction(tenant, firingId, { position, status, ...texts, run_id: runId ?? null })
  await recordAction(parts, { firing, content, stored }, { ...result, durationMs: clock.elapsed() - begun })
}

/** A command may have done half of its work. Runs, messages and webhooks have keys that make a repetition harmless. */
function mayRepeat({ type }: RecoveryAction): boolean {
  return type !== 'run_command' && type !== 'warm_remote_capacity'
}

async function recordAction(
  parts: RunActionsParts,
  { firing, content, stored }: StoredAction,
  { runId, durationMs = 0, ...outcome }: RuleActionResult & { readonly durationMs?: number },
): Promise<void> {
  const { tenant_id: tenant, firing_id: firingId, rule_id: ruleId, source } = firing
  const report = {
    ...{ ruleId, source, actionType: stored.action_type, actionId: stored.action_id, firingId, outcome },
    key: `rule:${firingId}:${stored.position}`,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    ...definedFields({ runId }),
  }
  await parts.record([actionRecord({ ...content, tenant }, [report])])
}

function runAction(call: RuleActionCall, parts: RuleActionParts): Promise<RuleActionResult> {
  const { action } = call
  switch (action.type) {
    case 'retry_run':
      return retryRun({ ...call, action }, parts)
    case 'run_command':
    case 'call_webhook':
      return runHandlerAction({ ...call, action }, parts)
    default:
      return runHostAction(action, { ...call.event, ruleId: call.rule.id }, gatewayHost(call, parts))
  }
}

function gatewayHost(call: RuleActionCall, parts: RuleActionParts): ActionHost<RuleActionResult> {
  const { tenant, envelope } = call
  const { defaultTeam, allowsRemoteSessions } = parts.settingsOf(tenant)
  return {
    startAgent: (agent) => startFallback(call, parts, agent),
    defaultTeam,
    sender: envelope.agent,
    async findTeam(name) {
      const team = readTeam((await parts.store.findTeam(tenant, name))?.definition)
      return team && { ...team, send: (notice) => notifyMembers(call, parts, team.members, notice) }
    },
    allowsRemoteSessions,
    warmCapacity: (mayCreate) => warmEnvironment(call, parts, mayCreate),
  }
}

async function runHandlerAction(
  call: RuleActionCall<'run_command' | 'call_webhook'>,
  { runHandler, edition }: RuleActionParts,
): Promise<RuleActionResult> {
  const { tenant, event, envelope } = call
  const { type, config, timeoutMs = TIMEOUT_MS } = call.action
  if (type === 'run_command' && !runsCommands(edition))
    return failed('the standard edition starts no commands; call a webhook in their place')
  const handler = type === 'run_command' ? 'command' : 'http'
  return runHandler({ tenant, id: actionKey(call), type: handler, config, timeoutMs, event, envelope })
}
