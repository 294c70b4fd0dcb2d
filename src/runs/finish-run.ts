import { errorText } from '../engine/core/errors/error.ts'
import { resumeSession } from './create-run.ts'
import { pointOfEvent, type RunEventName } from './hooks/run-hook-points.ts'
import { endEvents, findResult, hookEvent, noResult, type RunResult } from './run-events.ts'
import type { RunParts } from './run-parts.ts'
import type { RunRow } from './stored/run-tables.ts'

/**
 * Does what follows the end of a run: its events, its finish hooks, the callback to its parent, and the report to the run whose hook
 * started it. Each step can be repeated. The run stays unconfirmed until all are done, and a sweep tries again.
 */
export async function finishRun(parts: RunParts, run: RunRow): Promise<void> {
  const { store, events, log } = parts
  const { tenant_id: tenant, run_id } = run
  try {
    const session = await store.findRunSession(tenant, run.session_id)
    await events.append(run, endEvents(run, session?.status ?? run.status))
    const result = (await findResult(store, run, run_id)) ?? noResult
    // A run whose answer a hook waits for fires no run hooks.
    if (run.hook_point === null) await dispatchEnd(parts, run, result)
    // A recovery rule has its own record of the runs that it starts.
    if (run.hook_point === null && run.parent_run_id !== null && run.origin === 'hook')
      await reportToCause(parts, run)
    if (run.execution_mode === 'async_callback' && !(await callBack(parts, run, result))) return
    await store.confirmFinish(tenant, run_id)
  } catch (thrown) {
    log('runs.finish_failed', { tenant, run_id, error: errorText(thrown) })
  }
}

async function dispatchEnd({ dispatch, hasHooks }: RunParts, run: RunRow, result: RunResult): Promise<void> {
  const { tenant_id, parameters, status, error, session_id, run_id, agent_name, timed_out } = run
  const about = { status, error, session_id, run_id, agent_name: agent_name ?? '' }
  const send = (event: RunEventName, own: object) =>
    dispatch(run, {
      ...{ event, payload: { parameters, ...own, ...about }, idempotency_key: `${event}:${run_id}` },
    })
  // A run that took too long is a timeout, and every other failure an error.
  const failure = timed_out ? 'run_timeout' : 'run_error'
  if (status === 'failed' && (await hasHooks(tenant_id, failure))) await send(failure, {})
  await send('run_finish', result)
}

/** Tells the session of the run whose hook started this run how it ended. */
async function reportToCause({ store, events }: RunParts, run: RunRow): Promise<void> {
  const {
    tenant_id: tenant,
    run_id,
    parent_run_id,
    agent_name,
    status,
    error,
    created_at,
    completed_at,
    created_by,
  } = run
  const cause = await store.findRun(tenant, parent_run_id ?? '')
  if (cause === undefined) return
  const hook = await store.findHook(tenant, created_by.replace(/^hook:/, ''))
  const hook_type = pointOfEvent(hook?.event) ?? 'on_run_finish'
  const duration_ms = (completed_at ?? created_at) - created_at
  const limit = hook?.timeout_ms ?? Number.POSITIVE_INFINITY
  const isLate = duration_ms > limit
  const target = { hook_type, target_type: 'agent', target_name: agent_name ?? '' }
  const facts = { ...target, duration_ms, hook_session_id: run.session_id }
  const failure = isLate
    ? `Hook timed out after ${Math.round(limit / 1_000)}s`
    : (error ?? `Hook was ${status}`)
  const event =
    status === 'completed' && !isLate
      ? hookEvent('hook_complete', facts, `${run_id}-hook_end`)
      : hookEvent(
          'hook_failed',
          { ...facts, error: failure, on_error_behavior: hook?.on_error === 'block' ? 'block' : 'continue' },
          `${run_id}-hook_end`,
        )
  await events.append(cause, [event])
}

/** Resumes the parent session with the result. False while the parent is busy. */
async function callBack(parts: RunParts, run: RunRow, result: RunResult): Promise<boolean> {
  const { tenant_id: tenant, run_id, session_id, agent_name, status, error, parent_session_id } = run
  if (parent_session_id === null) return true
  const parent = await parts.store.findRunSession(tenant, parent_session_id)
  if (parent === undefined) return true
  if (parent.status === 'pending' || parent.status === 'running') return false
  await resumeSession(parts, parent, {
    parameters: { callback: { run_id, session_id, agent_name, status, error, ...result } },
    created_by: `callback:${run_id}`,
    key: `callback:${run_id}`,
    depth: run.depth + 1,
  })
  parts.waits.announce(tenant)
  return true
}
