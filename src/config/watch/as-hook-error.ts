import { errorText, HookError } from '../../engine/core/error.ts'

/** A folder that cannot be read throws errors of the system; a file that cannot be read is all we say. */
export function asHookError(error: unknown): HookError {
  return error instanceof HookError
    ? error
    : new HookError('config.unreadable', errorText(error), { cause: error })
}
