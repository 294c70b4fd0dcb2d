import { randomUUID } from 'node:crypto'
import { isHookError } from '../engine/core/errors/error.ts'
import { after } from '../engine/core/time/after.ts'
import type { EventToSend } from './client.ts'
import type { CallDeadline } from './deadline.ts'
import type { Http } from './http.ts'

/** Between two attempts to reach a gateway that restarts. */
const RETRY_MS = 250
/** How a connection ends that was open. */
const LOST: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']

interface HeldEvent {
  readonly event: EventToSend
  /** How long the caller can wait for a person. */
  readonly waitMs: number
  readonly deadline: CallDeadline
}

/**
 * Sends an event whose caller can wait for a person. If the gateway restarts meanwhile, sends it again under the same id, so
 * that no person is asked twice. A gateway that was never there ends the call at once.
 */
export async function postHeldEvent(http: Http, { event, waitMs, deadline }: HeldEvent): Promise<unknown> {
  const { clock } = deadline
  const id = event.envelope?.id ?? randomUUID()
  const first = { ...event, envelope: { ...event.envelope, id } }
  const end = clock.elapsed() + Math.max(deadline.timeoutMs, waitMs)
  let request: object = first
  for (let isFirst = true; ; isFirst = false) {
    const leftMs = Math.max(1, end - clock.elapsed())
    try {
      const within_ms = Math.min(waitMs, leftMs)
      return await http.post('/v1/dispatch', { ...request, within_ms }, { ...deadline, timeoutMs: leftMs })
    } catch (thrown) {
      const isOver = deadline.signal?.aborted === true || end - clock.elapsed() <= RETRY_MS
      if (isOver || !(isFirst ? wasLost(thrown) : isAway(thrown))) throw thrown
    }
    request = { idempotency_key: id, ...first }
    await new Promise<void>((resolve) => void after(clock, RETRY_MS, resolve))
  }
}

/** The gateway had the request and ended before its answer. */
function wasLost(thrown: unknown): boolean {
  if (!isHookError(thrown)) return false
  const { code, cause } = thrown
  if (code === 'gateway.stopping') return true
  return code === 'gateway.unreachable' && cause instanceof Error && LOST.includes(codeIn(cause))
}

function codeIn(error: object): unknown {
  return 'code' in error ? error.code : undefined
}

function isAway(thrown: unknown): boolean {
  return isHookError(thrown) && (thrown.code === 'gateway.unreachable' || wasLost(thrown))
}
