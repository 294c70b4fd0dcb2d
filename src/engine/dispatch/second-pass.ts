import { isDeepStrictEqual } from 'node:util'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'

/** A rewrite must not carry anything past a hook that vouches for the input. */
export function needsSecondPass(dispatch: Dispatch): boolean {
  const { answer, aside, track } = dispatch
  if (answer === null || answer.steps.length === 0 || aside?.secondPass || track.role !== 'decide')
    return false
  return answer.kind !== 'block' && track.hooks.some((hook) => mustSee(dispatch, hook))
}

export function startSecondPass(dispatch: Dispatch): void {
  dispatch.withAside().secondPass = true
  dispatch.index = 0
}

/** Hooks that vouch and have not passed the input as it is now, whether they looked at an earlier one or at none. */
export function mustSee(dispatch: Dispatch, hook: CompiledHook): boolean {
  if (!hook.vouches) return false
  const passed = dispatch.aside?.passed.get(hook)
  return passed !== dispatch.payload && !isDeepStrictEqual(passed, dispatch.payload)
}
