import { HookError } from '../errors/error.ts'
import { type ServerCode, serverError } from '../errors/server-errors.ts'

/** The error of a request that may be repeated later. The wait is in the cause, so that there is one error class. */
export function tooSoon(code: ServerCode, message: string, retryAfterMs: number): HookError {
  return serverError(code, message, { cause: { retryAfterMs } })
}

/** How many milliseconds to wait before repeating, if the error has such a hint. */
export function retryAfterOf(error: unknown): number | undefined {
  const cause = error instanceof HookError ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('retryAfterMs' in cause)) return undefined
  return typeof cause.retryAfterMs === 'number' ? cause.retryAfterMs : undefined
}
