import { errorText, HookError } from '../engine/core/errors/error.ts'
import { type ErrorCode, isErrorCode } from '../engine/core/errors/error-table.ts'
import { isHandlerCode } from '../engine/core/errors/handler-errors.ts'
import { serverError, serverErrors } from '../engine/core/errors/server-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'

/** The gateway's error as a `HookError` with the same code, message and hint. */
export function errorFromWire(wire: unknown): HookError {
  if (!isRecord(wire)) return serverError('gateway.internal', 'the gateway refused without a reason')
  // HTTP and WebSocket carry our code in `details`; the socket carries it directly.
  const ours = isRecord(wire.details) ? wire.details : wire
  const message = typeof wire.message === 'string' ? wire.message : 'the gateway refused'
  const wait = wire.retryAfterMs ?? wire.retry_after_ms
  return new HookError(codeOf(ours.code), message, {
    hint: typeof ours.hint === 'string' ? ours.hint : '',
    ...(typeof ours.at === 'string' ? { at: ours.at } : {}),
    ...(typeof wait === 'number' ? { cause: { retryAfterMs: wait } } : {}),
  })
}

/** A newer gateway may have codes that this version does not know. */
function codeOf(code: unknown): ErrorCode {
  if (isErrorCode(code) || isHandlerCode(code)) return code
  return isServerCode(code) ? code : 'gateway.internal'
}

function isServerCode(code: unknown): code is keyof typeof serverErrors {
  return typeof code === 'string' && Object.hasOwn(serverErrors, code)
}

export function unreachableGateway(where: string, thrown?: unknown): HookError {
  const why = thrown === undefined ? '' : `: ${errorText(thrown)}`
  return serverError('gateway.unreachable', `no gateway answers at ${where}${why}`, { cause: thrown })
}
