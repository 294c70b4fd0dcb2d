import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { after } from '../../engine/core/time/after.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { type RunRefusal, runRefusalOf } from '../prepare-run.ts'
import { type NewSessionEvent, readResultData } from '../run-events.ts'
import type { RunParts } from '../run-parts.ts'
import type { RunRow } from '../stored/run-tables.ts'

type Verdict = { readonly event: NewSessionEvent } | { readonly refusal: RunRefusal }

/** A report must be answered before its client gives up. */
const LONGEST_WAIT_MS = 20_000
const MAX_WAITING = 1_000

/**
 * Passes the results of runners through the `on_result` hooks, before they are stored and shown. A result that the hooks refuse
 * is not stored, and its run fails. Returns the events to store.
 */
export function createResultHooks(
  parts: RunParts,
): (run: RunRow, events: readonly NewSessionEvent[]) => Promise<readonly NewSessionEvent[]> {
  const deciding = new LRUCache<string, Promise<Verdict>>({ max: MAX_WAITING })

  /** A repeated report joins the execution that its predecessor began. */
  async function decideOnce(run: RunRow, event: NewSessionEvent): Promise<Verdict> {
    const key = `${run.run_id} ${run.attempts} ${event.event_id ?? ''} ${digestOf(event.data)}`
    const begun = deciding.get(key) ?? decideResult(parts, run, event)
    deciding.set(key, begun)
    // A failed execution may be tried again.
    begun.catch(() => deciding.delete(key))
    const verdict = await within(parts, begun)
    deciding.delete(key)
    return verdict
  }

  return async (run, events) => {
    // The run of a hook fires no run hooks.
    if (run.hook_point !== null || !events.some(isResult)) return events
    if (!(await parts.hasHooks(run.tenant_id, 'run_result'))) return events
    const passed: NewSessionEvent[] = []
    for (const event of events) {
      const verdict = isResult(event) ? await decideOnce(run, event) : { event }
      if ('event' in verdict) passed.push(verdict.event)
      else await parts.fail(run, verdict.refusal)
    }
    return passed
  }
}

/** A digest, because results may be large. */
function digestOf(data: NewSessionEvent['data']): string {
  return createHash('sha256').update(stableJson(data)).digest('base64url')
}

function isResult({ event_type }: NewSessionEvent): boolean {
  return event_type === 'result'
}

/** The verdict, or a refusal that the runner repeats: a request must not wait as long as a hook may take. */
async function within({ clock, waits, pollMs }: RunParts, verdict: Promise<Verdict>): Promise<Verdict> {
  const late = new AbortController()
  const callOff = after(clock, Math.min(pollMs, LONGEST_WAIT_MS), () => late.abort())
  const ended = new Promise<undefined>((resolve) => {
    for (const signal of [late.signal, waits.closed])
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const first = await Promise.race([verdict, ended]).finally(callOff)
  if (first !== undefined) return first
  if (waits.closed.aborted) throw serverError('gateway.stopping', 'the gateway stops')
  throw serverError('gateway.busy', 'the on_result hooks have not decided yet', {
    hint: 'Send the same events again.',
  })
}

async function decideResult(parts: RunParts, run: RunRow, event: NewSessionEvent): Promise<Verdict> {
  const { parameters, agent_name, session_id, run_id } = run
  const payload = {
    ...{ parameters: parameters ?? {}, agent_name: agent_name ?? '', session_id, run_id },
    result: readResultData(event.data),
  }
  try {
    const decision = await parts.dispatch(run, { event: 'run_result', payload }, parts.waits.closed)
    // The hooks are not known, so there is no decision yet.
    if (decision.code === 'store.unavailable' && decision.by === undefined)
      throw serverError('store.unavailable', 'the on_result hooks cannot be loaded')
    if (parts.waits.closed.aborted) throw serverError('gateway.stopping', 'the gateway stops')
    const refusal = await runRefusalOf(parts, { run, point: 'on_result' }, decision)
    if (refusal !== undefined) return { refusal }
    const { input } = decision
    return {
      event: isRecord(input) ? { ...event, data: { ...event.data, ...readResultData(input) } } : event,
    }
  } finally {
    parts.reports.forget(run_id)
  }
}
