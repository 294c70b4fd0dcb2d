import type { Decision } from '../engine/core/decision.ts'
import { errorText } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { problemOfChange } from './hooks/hook-change.ts'
import type { RunEventName } from './hooks/run-hook-points.ts'
import { hookTarget } from './hooks/run-hooks.ts'
import { hookEvent } from './run-events.ts'
import type { RunParts } from './run-parts.ts'
import type { RunRow, TakenRun } from './stored/run-tables.ts'

/** Sends an event of a run through the hooks of its tenant. */
export type DispatchRunEvent = (
  run: RunRow,
  request: {
    readonly event: RunEventName
    readonly payload: Readonly<Record<string, unknown>>
    readonly idempotency_key?: string
  },
  signal?: AbortSignal,
) => Promise<Decision>

/** Why hooks end a run. */
export interface RunRefusal {
  readonly error: string
  readonly block_reason: string
}

/**
 * Runs the start hooks of a run under a lease that it renews. Afterwards the run is pending again, for any matching runner,
 * or it has failed. If this node stops before, the lease runs out and another poll prepares the run again.
 */
export async function prepareRun(parts: RunParts, { run, lease }: TakenRun): Promise<void> {
  const { store, clock, log, leaseMs, waits } = parts
  const { tenant_id: tenant, run_id } = run
  let isLost = false
  const renewal = clock.every(Math.max(1, Math.floor(leaseMs / 3)), () => {
    store.extendPreparation(tenant, run_id, lease, leaseMs).then(
      (isOurs) => {
        // Another node prepares the run with the same hook runs, so nothing is stopped here.
        isLost ||= !isOurs
      },
      (thrown) => log('runs.lease_failed', { tenant, run_id, error: errorText(thrown) }),
    )
  })
  try {
    const decision = await dispatchStart(parts, run, waits.closed)
    if (waits.closed.aborted || isLost) return
    const refusal = await runRefusalOf(parts, { run, point: 'on_run_start' }, decision)
    if (refusal !== undefined) {
      if (await store.extendPreparation(tenant, run_id, lease, leaseMs)) await parts.fail(run, refusal)
      return
    }
    const { input } = decision
    await store.endPreparation(tenant, run_id, { lease, ...(isRecord(input) ? { parameters: input } : {}) })
  } catch (thrown) {
    log('runs.prepare_failed', { tenant, run_id, error: errorText(thrown) })
  } finally {
    renewal.stop()
    parts.reports.forget(run_id)
    waits.announce(tenant)
  }
}

function dispatchStart({ dispatch }: RunParts, run: RunRow, signal: AbortSignal): Promise<Decision> {
  const { parameters, agent_name, session_id, run_id } = run
  const payload = { parameters, agent_name: agent_name ?? '', session_id, run_id }
  return dispatch(run, { event: 'run_start', payload }, signal)
}

interface DecidingPoint {
  readonly run: RunRow
  readonly point: 'on_run_start' | 'on_result'
}

/** Why the run ends by a decision of its hooks; undefined if it goes on. */
export async function runRefusalOf(
  parts: RunParts,
  at: DecidingPoint,
  decision: Decision,
): Promise<RunRefusal | undefined> {
  const block_reason = await reasonToEnd(parts, at, decision)
  if (block_reason === undefined) return undefined
  return { error: `Blocked by ${at.point} hook: ${block_reason}`, block_reason }
}

async function reasonToEnd(parts: RunParts, at: DecidingPoint, decision: Decision) {
  const { kind, reason = 'No reason provided', code, input } = decision
  if (kind === 'block') {
    await reportUnreportedBlock(parts, at, decision)
    return at.point === 'on_run_start' && code?.startsWith('agent.') ? `Hook failed: ${reason}` : reason
  }
  // Only without approvals: the dispatcher of a gateway answers with what a person decided.
  if (kind === 'ask') return `a hook asks for an approval, and no person can be asked: ${reason}`
  const problem = isRecord(input) ? await problemOfChange(parts, at, input) : undefined
  return problem && `a hook ${problem}`
}

/** Reports a block by a hook that did not run, or that is no run hook. The others report themselves. */
async function reportUnreportedBlock(
  { events, reports, store }: RunParts,
  { run, point }: DecidingPoint,
  decision: Decision,
): Promise<void> {
  const { reason = 'No reason provided', code, by = '' } = decision
  if (reports.hasBegun(run.run_id, by)) return
  const hook = by === '' ? undefined : await store.findHook(run.tenant_id, by)
  const target = {
    hook_type: point,
    target_type: hook?.handler_type ?? 'hook',
    target_name: hook ? hookTarget(hook) : by,
  }
  const event =
    code === undefined
      ? hookEvent('hook_blocked', { ...target, action: 'block', block_reason: reason })
      : hookEvent('hook_failed', { ...target, error: reason, on_error_behavior: 'block' })
  await events.append(run, [event])
}
