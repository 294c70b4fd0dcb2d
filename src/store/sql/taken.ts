import { isHookError } from '../../engine/core/error.ts'

/** Whether a statement failed because a name or key is there already. */
export function isTaken(thrown: unknown): boolean {
  return isHookError(thrown) && thrown.code === 'store.taken'
}
