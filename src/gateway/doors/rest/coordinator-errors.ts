import { isHookError } from '../../../engine/core/errors/error.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { validationErrorsOf } from '../../../runs/create-run.ts'
import type { ErrorReply } from '../http/error-reply.ts'

/**
 * The routes of the original coordinator (`/agents`, `/runs`, `/runner`, `/sessions`) keep its errors too: clients of it read
 * `detail`, and expect 422 for a request whose fields cannot be read.
 */
export function isCoordinatorRoute(path: string): boolean {
  return !path.startsWith('/v1/')
}

/** The reply of a coordinator route: our own error, and next to it `detail`. */
export function coordinatorReply(
  { status, body }: ErrorReply,
  thrown: unknown,
  isUnreadable: boolean,
): { readonly status: number; readonly body: object } {
  const isInvalid = isHookError(thrown) && thrown.code === 'gateway.request' && isUnreadable
  return { status: isInvalid ? 422 : status, body: { error: body, detail: detailOf(thrown, body.message) } }
}

/** An error whose detail is not its message has the detail in its cause. */
function detailOf(thrown: unknown, message: string): unknown {
  const validation_errors = validationErrorsOf(thrown)
  if (validation_errors !== undefined)
    return { error: 'parameter_validation_failed', message, validation_errors }
  const cause = isHookError(thrown) ? thrown.cause : undefined
  return isRecord(cause) && 'detail' in cause ? cause.detail : message
}
