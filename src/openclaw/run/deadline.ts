import type { Call, Listener } from './desk.ts'

/** The longest wait a timer can count; beyond it Node would fire at once. */
const LONGEST = 2 ** 31 - 1

/**
 * Starts a handler and answers as soon as it does, or rejects when its time is up; the handler itself is not stopped.
 * What the handler throws at once is thrown on at once.
 */
export function start(call: Call, listener: Listener): Promise<unknown> {
  const { desk, name, row, event, ctx } = call
  const work = Promise.resolve(listener.handler(event, ctx))
  const ms = wholeMs(listener.timeoutMs) ?? wholeMs(desk.timeoutOf(name, row.mode))
  // An observer must not keep the process alive.
  return ms ? within(work, ms, row.mode === 'observe') : work
}

async function within(work: Promise<unknown>, ms: number, detached: boolean): Promise<unknown> {
  const expiry = Promise.withResolvers<never>()
  const timer = setTimeout(() => expiry.reject(new Error(`timed out after ${ms}ms`)), Math.min(ms, LONGEST))
  if (detached) timer.unref?.()
  try {
    return await Promise.race([work, expiry.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A limit that makes no sense is no limit. One under a millisecond is a limit of none: it ends the search. */
function wholeMs(limit: unknown): number | undefined {
  if (typeof limit !== 'number' || !Number.isFinite(limit) || limit <= 0) return undefined
  return Math.floor(limit)
}
