import type { ErrorCode } from './error-table.ts'
import type { Trace } from './trace.ts'

export type Kind = 'allow' | 'ask' | 'block'
export type HookId = string
export type Failure = 'error' | 'timeout' | 'invalid'

/** A failure that a policy turned into "go on". */
export interface Opening {
  readonly hook: HookId
  readonly because: Failure
  readonly code: ErrorCode
}

/** One change of the input, and who made it. */
export interface Step {
  readonly hook: HookId
  readonly before: unknown
  readonly after: unknown
}

/** A block that was returned where nothing can be blocked, or once too often. */
export interface Ignored {
  readonly hook: HookId
  readonly code: 'engine.block_ignored' | 'guard.streak'
  readonly reason: string
}

/** The engine's one answer. `reason` is for operators, `message` for the model and the user. */
export interface Decision<Fields = Readonly<Record<string, unknown>>, Patch = unknown> {
  readonly kind: Kind
  readonly reason?: string
  readonly message?: string
  /** Set when a failure or a rule of the engine decided, rather than a hook's own answer. */
  readonly code?: ErrorCode
  /** The hook that decided. */
  readonly by?: HookId
  /** Allow means "no objection"; only a hook that says so grants. */
  readonly grant?: true
  /** The input to use instead of the original, when a hook changed it. */
  readonly patch?: Patch
  readonly original?: Patch
  readonly steps?: readonly Step[]
  readonly context?: readonly string[]
  /** The merged result fields of the event. */
  readonly fields?: Fields
  readonly opened?: readonly Opening[]
  readonly ignored?: readonly Ignored[]
  /** Present when the caller asked for it. */
  readonly trace?: Trace
}

/** What a gate hook may return; nothing at all means allow. */
export type Verdict<Patch = never> =
  | {
      readonly kind: 'allow'
      readonly grant?: true
      readonly patch?: Patch
      readonly context?: string | readonly string[]
      readonly reason?: string
      readonly message?: string
    }
  | {
      readonly kind: 'ask'
      readonly reason: string
      readonly message?: string
      readonly grant?: never
      readonly patch?: Patch
      readonly context?: string | readonly string[]
    }
  | {
      readonly kind: 'block'
      readonly reason: string
      readonly message?: string
      readonly grant?: never
      readonly patch?: never
    }

const weight = { allow: 0, ask: 1, block: 2 } as const

/** Block beats ask, ask beats allow. Ties go to the one that came first. */
export function stricter<A extends { kind: Kind }, B extends { kind: Kind }>(a: A, b: B): A | B {
  return weight[b.kind] > weight[a.kind] ? b : a
}

export function allow(options: { grant?: true; reason?: string } = {}): {
  kind: 'allow'
  grant?: true
  reason?: string
} {
  return { kind: 'allow', ...options }
}

/** Blocks. The message reaches the model and the user; without one the reason does. */
export function block(reason: string, message?: string): { kind: 'block'; reason: string; message?: string } {
  return message === undefined ? { kind: 'block', reason } : { kind: 'block', reason, message }
}

/** Asks a person. Unanswered means no. */
export function ask(reason: string, message?: string): { kind: 'ask'; reason: string; message?: string } {
  return message === undefined ? { kind: 'ask', reason } : { kind: 'ask', reason, message }
}

/** Replaces the whole input; `{}` changes nothing. */
export function rewrite<const P>(patch: P): { kind: 'allow'; patch: P } {
  return { kind: 'allow', patch }
}

export function addContext(...context: readonly string[]): { kind: 'allow'; context: readonly string[] } {
  return { kind: 'allow', context }
}
