import type { Decision } from '../engine/core/decision.ts'
import { errorText } from '../engine/core/errors/error.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { Clock } from '../engine/core/values/clock.ts'
import type { HookStore } from '../stored-hooks/hook-tables.ts'
import type { CreateRunParts } from './create-run.ts'
import { problemOfChange } from './hooks/hook-change.ts'
import type { RunEventName } from './hooks/run-hook-points.ts'
import type { RunHookReports } from './hooks/run-hook-reports.ts'
import { hookTarget } from './hooks/run-hooks.ts'
import { hookEvent } from './run-events.ts'
import type { RunWaits } from './run-waits.ts'
import type { RunRow, RunStore, TakenRun } from './stored/run-tables.ts'

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

export interface PrepareParts extends CreateRunParts {
  readonly store: CreateRunParts['store'] &
    Pick<RunStore, 'extendPreparation' | 'endPreparation'> &
    Pick<HookStore, 'findHook'>
  readonly waits: RunWaits
  readonly dispatch: DispatchRunEvent
  readonly clock: Clock
  readonly log: Log
  readonly leaseMs: number
  readonly reports: RunHookReports
  /** Ends the run. */
  fail(run: RunRow, end: RunRefusal): Promise<void>
}

/** Why hooks end a run. */
export interface RunRefusal {
  readonly error: string
  readonly block_reason: string
}

/**
 * Runs the start hooks of a run under a lease that it renews. Afterwards the run is pending again, for any matching runner,
 * or it has failed. If this node stops before, the lease runs out and another poll prepares the run again.
 */
export async function prepareRun(parts: PrepareParts, { run, lease }: TakenRun): Promise<void> {
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
    const refusal = await refusalOf(parts, run, decision)
    if (refusal !== undefined) {
      if (await store.extendPreparation(tenant, run_id, lease, leaseMs)) await parts.fail(run, refusal)
      return
    }
    const parameters = changedParameters(decision)
    await store.endPreparation(tenant, run_id, parameters === undefined ? { lease } : { lease, parameters })
  } catch (thrown) {
    log('runs.prepare_failed', { tenant, run_id, error: errorText(thrown) })
  } finally {
    renewal.stop()
    parts.reports.forget(run_id)
    waits.announce(tenant)
  }
}

function dispatchStart({ dispatch }: PrepareParts, run: RunRow, signal: AbortSignal): Promise<Decision> {
  const { parameters, agent_name, session_id, run_id } = run
  const payload = { parameters, agent_name: agent_name ?? '', session_id, run_id }
  return dispatch(run, { event: 'run_start', payload }, signal)
}

function changedParameters({ input }: Decision): Readonly<Record<string, unknown>> | undefined {
  return isRecord(input) ? input : undefined
}

/** Why the run must not start. */
async function refusalOf(
  parts: PrepareParts,
  run: RunRow,
  decision: Decision,
): Promise<RunRefusal | undefined> {
  const { kind, reason = 'No reason provided', code, input } = decision
  if (kind === 'block') {
    await reportUnreportedBlock(parts, { run, point: 'on_run_start', decision })
    return refused(code?.startsWith('agent.') ? `Hook failed: ${reason}` : reason)
  }
  // Only without approvals: the dispatcher of a gateway answers with what a person decided.
  if (kind === 'ask') return refused(`a hook asks for an approval, and no person can be asked: ${reason}`)
  if (!isRecord(input)) return undefined
  const problem = await problemOfChange(parts, { run, point: 'on_run_start' }, input)
  return problem === undefined ? undefined : refused(`a hook ${problem}`)
}

function refused(block_reason: string): RunRefusal {
  return { error: `Blocked by on_run_start hook: ${block_reason}`, block_reason }
}

/** Reports a block by a hook that did not run, or that is no run hook. The others report themselves. */
export async function reportUnreportedBlock(
  {
    events,
    reports,
    store,
  }: Pick<PrepareParts, 'events' | 'reports'> & { store: Pick<HookStore, 'findHook'> },
  {
    run,
    point,
    decision,
  }: { readonly run: RunRow; readonly point: 'on_run_start' | 'on_result'; readonly decision: Decision },
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
