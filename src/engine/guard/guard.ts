import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { FieldsType, SchemaFields } from '../core/schema/schema.ts'

/** Creates the request to the guard state for one event. */
export type GuardQuestion = (payload: unknown, context: HookContext) => GuardRequest

/** Decides whether a hook that matches may fire now. */
export interface Guard<F extends SchemaFields = SchemaFields> {
  /** The hook fields that configure it. */
  readonly fields: F
  /** Looks at a hook once, when it is registered; undefined if the hook does not use this guard. */
  question(hook: Partial<FieldsType<F>> & { readonly id?: string }): GuardQuestion | undefined
}

/** Infers the types of a guard from its fields. */
export function defineGuard<const F extends SchemaFields>(guard: Guard<F>): Guard<F> {
  return guard
}

/** The longest window of a guard. */
export const DAY_MS = 86_400_000

/** One key of several parts. Unlike joining, it cannot confuse tenant `a|b` with `c` and tenant `a` with `b|c`. */
export function guardKey(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
