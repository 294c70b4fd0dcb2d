import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { FieldsType, SchemaFields } from '../core/schema.ts'

/** What a guard asks the guard state before a hook fires. */
export type GuardQuestion = (payload: unknown, context: HookContext) => GuardRequest

/** Decides whether a hook that matches may fire now. */
export interface Guard<F extends SchemaFields = SchemaFields> {
  /** The hook fields that configure it. */
  readonly fields: F
  /** Looks at a hook once, when it is registered; undefined if the hook does not use this guard. */
  question(hook: FieldsType<F> & { readonly id?: string }): GuardQuestion | undefined
}

/** Keeps the types of a guard's fields and of its question together. */
export function defineGuard<const F extends SchemaFields>(guard: Guard<F>): Guard<F> {
  return guard
}

export const DAY_MS = 86_400_000
