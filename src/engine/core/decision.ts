import type { ErrorCode } from './errors/error-table.ts'
import type { Trace } from './records/trace.ts'

export const decisionKinds = ['allow', 'ask', 'block'] as const
/** What a decision means for the event. */
export type Kind = (typeof decisionKinds)[number]
/** The id of a hook. */
export type HookId = string
/** How a hook failed: it threw, did not answer in time, or answered something unreadable. */
export type Failure = 'error' | 'timeout' | 'invalid'

/** A failed hook whose policy allowed the event. */
export interface AllowedFailure {
  readonly hook: HookId
  readonly because: Failure
  readonly code: ErrorCode
}

/** One change of the input by a hook. */
export interface RewriteStep {
  readonly hook: HookId
  readonly before: unknown
  readonly after: unknown
}

/**
 * An answer that was not applied: a block of an event that cannot block, or that blocked too often in a row; a change or a
 * permission of a hook of another folder.
 */
export interface IgnoredAnswer {
  readonly hook: HookId
  readonly code: 'engine.block_ignored' | 'guard.streak' | 'engine.other_folder'
  readonly reason: string
}

/** The result of a dispatch. `Fields` are the result fields of the event, `Input` is the type of its input. */
export interface Decision<Fields = Readonly<Record<string, unknown>>, Input = unknown> {
  /** allow: go on · ask: a person has to approve · block: stop. */
  readonly kind: Kind
  /** Why, for operators. */
  readonly reason?: string
  /** Why, for the model and the user. */
  readonly message?: string
  /** Set if a failure or a rule of the engine decided, and not the answer of a hook. */
  readonly code?: ErrorCode
  /** The hook that decided. */
  readonly by?: HookId
  /** A hook granted permission explicitly. Without it, allow means that no hook objects. */
  readonly grant?: true
  /** Of `ask`, if other hooks granted the same input: who asks, and who grants. The gateway reads it. */
  readonly granted?: { readonly asked_by: readonly HookId[]; readonly granted_by: readonly HookId[] }
  /** The whole new input, if a hook changed it. Use it in place of the original. */
  readonly input?: Input
  /** The input before the changes, if a hook changed it. */
  readonly original?: Input
  /** Each change of the input, in order. */
  readonly steps?: readonly RewriteStep[]
  /** Texts that hooks add to the context of the model. */
  readonly context?: readonly string[]
  /** The result fields of the event, merged over all hooks. */
  readonly fields?: Fields
  /** Failed hooks whose policy allowed the event. */
  readonly opened?: readonly AllowedFailure[]
  /** Answers that were not applied. */
  readonly ignored?: readonly IgnoredAnswer[]
  /** How the decision came about; present if the caller set `trace: true`. */
  readonly trace?: Trace
}

/** What a hook may return: a decision of its own. Returning nothing means that it does not object. */
export type Verdict<Input = never> =
  | {
      readonly kind: 'allow'
      readonly grant?: true
      readonly input?: Input
      readonly context?: string | readonly string[]
      readonly reason?: string
      readonly message?: string
    }
  | {
      readonly kind: 'ask'
      readonly reason: string
      readonly message?: string
      readonly grant?: never
      readonly input?: Input
      readonly context?: string | readonly string[]
    }
  | {
      readonly kind: 'block'
      readonly reason: string
      readonly message?: string
      readonly grant?: never
      readonly input?: never
    }

/** How strict each kind is. */
export const strictness = { allow: 0, ask: 1, block: 2 } as const

/** Returns the stricter of two decisions: block beats ask, ask beats allow. Of two equal ones it returns the first. */
export function stricter<A extends { kind: Kind }, B extends { kind: Kind }>(a: A, b: B): A | B {
  return strictness[b.kind] > strictness[a.kind] ? b : a
}

/** Allows the event. With `grant: true` the hook gives permission explicitly, in place of the agent's own rules. */
export function allow(options: { grant?: true; reason?: string } = {}): {
  kind: 'allow'
  grant?: true
  reason?: string
} {
  return { kind: 'allow', ...options }
}

/**
 * Blocks the event. `reason` is for operators; `message` is for the model and the user, who see the reason if there is no
 * message. The reason must not be empty.
 *
 * ```ts
 * hooks.on('pre_tool_use', { matcher: '^Bash$' }, () => block('no shell here'))
 * ```
 */
export function block(reason: string, message?: string): { kind: 'block'; reason: string; message?: string } {
  return message === undefined ? { kind: 'block', reason } : { kind: 'block', reason, message }
}

/** Asks a person to approve the event. No answer means no. The reason must not be empty. */
export function ask(reason: string, message?: string): { kind: 'ask'; reason: string; message?: string } {
  return message === undefined ? { kind: 'ask', reason } : { kind: 'ask', reason, message }
}

/**
 * Allows the event and replaces its whole input: for `pre_tool_use` that is `tool_input`. Later hooks see the new input.
 * An empty object changes nothing.
 *
 * ```ts
 * hooks.on('pre_tool_use', ({ tool_input }) => rewrite({ ...tool_input, timeout: 10 }))
 * ```
 */
export function rewrite<const I>(input: I): { kind: 'allow'; input: I } {
  return { kind: 'allow', input }
}

/** Allows the event and adds texts to the context of the model. */
export function addContext(...context: readonly string[]): { kind: 'allow'; context: readonly string[] } {
  return { kind: 'allow', context }
}
