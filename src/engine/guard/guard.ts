import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { HookDefinition } from '../core/hook.ts'

/** Looks at a definition once; answers what to ask the guard state on each dispatch, or nothing. */
export type Guard = (
  hook: HookDefinition,
) => ((payload: unknown, context: HookContext) => GuardRequest) | undefined
