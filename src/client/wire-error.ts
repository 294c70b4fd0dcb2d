import { isRecord } from '../engine/core/check.ts'
import { errorText, HookError } from '../engine/core/error.ts'
import { type ErrorCode, isErrorCode } from '../engine/core/error-table.ts'
import { serverError, serverErrors } from '../engine/core/server-errors.ts'

/** What the gateway said went wrong, as the error it was there: same code, message and hint. */
export function errorOf(wire: unknown): HookError {
  if (!isRecord(wire)) return serverError('gateway.internal', 'the gateway refused and did not say why')
  // Over HTTP and WebSocket our code stands in the details; on the socket there is no other.
  const ours = isRecord(wire.details) ? wire.details : wire
  const message = typeof wire.message === 'string' ? wire.message : 'the gateway refused'
  const wait = wire.retryAfterMs ?? wire.retry_after_ms
  return new HookError(codeOf(ours.code), message, {
    hint: typeof ours.hint === 'string' ? ours.hint : '',
    ...(typeof ours.at === 'string' ? { at: ours.at } : {}),
    ...(typeof wait === 'number' ? { cause: { retryAfterMs: wait } } : {}),
  })
}

/** A newer gateway may raise codes that we do not know. */
function codeOf(code: unknown): ErrorCode {
  if (isErrorCode(code)) return code
  return isServerCode(code) ? code : 'gateway.internal'
}

function isServerCode(code: unknown): code is keyof typeof serverErrors {
  return typeof code === 'string' && Object.hasOwn(serverErrors, code)
}

export function unreachable(where: string, thrown?: unknown): HookError {
  const why = thrown === undefined ? '' : `: ${errorText(thrown)}`
  return serverError('gateway.unreachable', `no gateway answers at ${where}${why}`, { cause: thrown })
}
