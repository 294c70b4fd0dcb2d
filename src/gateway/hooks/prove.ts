import { HookError } from '../../engine/core/error.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookParts } from '../parts.ts'

/** Registers the hook as a snapshot will, and forgets it: what is saved can be loaded. */
export function prove(hook: HookDefinition, { handlers, host }: Pick<HookParts, 'handlers' | 'host'>): void {
  try {
    createHooks({ handlers, host }).add(hook)
  } catch (error) {
    // A matcher that does not compile is named with its hook, whose id the caller has not seen yet.
    if (error instanceof HookError && error.cause instanceof HookError) throw error.cause
    throw error
  }
}
