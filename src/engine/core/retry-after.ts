import { HookError } from './error.ts'
import { type ServerCode, serverError } from './server-errors.ts'

/** A refusal that ends by itself. How long to wait travels as the cause, so that there is still one class of errors. */
export function tooSoon(code: ServerCode, message: string, retryAfterMs: number): HookError {
  return serverError(code, message, { cause: { retryAfterMs } })
}

export function retryAfterOf(error: unknown): number | undefined {
  const cause = error instanceof HookError ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('retryAfterMs' in cause)) return undefined
  return typeof cause.retryAfterMs === 'number' ? cause.retryAfterMs : undefined
}
