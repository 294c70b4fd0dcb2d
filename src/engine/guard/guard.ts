import type { Envelope, HookContext } from '../core/context.ts'
import { callerKey, callerTurn } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import { type FieldsType, type SchemaFields, schema } from '../core/schema/schema.ts'

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

export const countPerField = {
  count_per: schema.choice(
    ['session', 'process', 'folder', 'member'],
    'Whose events the guards of the hook count together. A session counts as the process of the agent in its folder, where the gateway knows both.',
  ),
}
export type CountPer = FieldsType<typeof countPerField>['count_per']

/** Whose events count together. Those of unknown callers do: leaving a name out must not be a way around a guard. */
export function countedSubject(envelope: Envelope, per: CountPer): string {
  const { process = '', cwd = '', project = cwd, member = '' } = envelope
  const subjects = { session: callerKey(envelope) ?? '', process, folder: project, member }
  return guardKey(per, subjects[per])
}

/** The same within one turn of an agent. Other subjects have no turns. */
export function countedTurn(envelope: Envelope, per: CountPer | undefined): string {
  if (per !== undefined && per !== 'session') return countedSubject(envelope, per)
  return guardKey(callerKey(envelope) ?? '', envelope.run ?? '', callerTurn(envelope))
}

/** One key of several parts. Unlike joining, it cannot confuse tenant `a|b` with `c` and tenant `a` with `b|c`. */
export function guardKey(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
