import type { Verdict } from './decision.ts'
import { HookError } from './errors/error.ts'
import { type MergeRule, sticky } from './merge.ts'
import { type Check, type Checked, flag, isRecord, type Problem } from './schema/check.ts'

const modes = ['observe', 'gate', 'transform', 'claim'] as const

/**
 * How the hooks of an event combine.
 *
 * - `observe`: all at the same time; no caller waits for them and none can block
 * - `gate`: one after the other; the strictest decision wins and the first block stops
 * - `transform`: one after the other; result fields are merged
 * - `claim`: one after the other; the first that returns `handled: true` wins
 */
export type Mode = (typeof modes)[number]
/** What a failing hook means for a gate. */
export type Policy = 'block' | 'allow'

/** A result field of an event: its check, and how the values of two hooks become one. */
export interface Field<T> {
  readonly check: Check<T>
  readonly merge: MergeRule
}
type Fields = Readonly<Record<string, Field<unknown>>>

/** Declares a result field for `defineEvent`. `merge` has the rules. */
export function field<T>(check: Check<T>, merge: MergeRule): Field<T> {
  return { check, merge }
}

/** Derives a verdict from the result fields of an event. `undefined` means no objection. */
export type ReadVerdict = (result: Readonly<Record<string, unknown>>) => Verdict | 'invalid' | undefined

/** Merges whole results, for events whose fields depend on one another. */
export type MergeResults = (
  before: Readonly<Record<string, unknown>> | undefined,
  next: Readonly<Record<string, unknown>>,
  by: string,
) => Readonly<Record<string, unknown>>

/** The declaration of an event, for `defineEvent`. */
export interface EventSpec<P, M extends Mode, R extends string, F extends Fields> {
  /** One sentence: when it happens. */
  readonly about: string
  /** How the hooks of the event combine. */
  readonly mode: M
  /** Checks the payload; its type is the payload type of the hooks. */
  readonly payload: Check<P>
  /** The event is dispatched with `dispatchSync`, and its hooks must not return promises. */
  readonly sync?: boolean
  /** The payload key that `rewrite` replaces: the input of the event. */
  readonly rewrites?: R & Extract<keyof P, string>
  /** The result fields that hooks may return, made with `field`. */
  readonly fields?: F
  /** Derives block or ask from the result fields. A gate without it takes only results with a `kind`. */
  readonly verdict?: ReadVerdict
  /** Merges whole results, in place of the rules of the fields. */
  readonly merge?: MergeResults
  /** The payload key that name matchers look at; `tool_name` by default. */
  readonly subject?: Extract<keyof P, string>
  /** How long a hook may take; 5 000 by default. */
  readonly timeoutMs?: number
  /** What a failing hook means if the hook has no policy; `block` by default on a gate. */
  readonly onFailure?: Policy
  /** Only hooks with `transform: true` are awaited; the others observe. */
  readonly awaitsOnlyTransformers?: boolean
  /** After this many blocks in a row in one session, the next block is not applied. */
  readonly maxBlocksInARow?: number
  /** Other names of the event. Spellings that differ only in case and separators need no alias. */
  readonly aliases?: readonly string[]
}

/** An event as `defineEvent` returns it, with all defaults. See `EventSpec` for the properties. */
export interface EventRow<
  P = unknown,
  M extends Mode = Mode,
  R extends string = string,
  F extends Fields = Fields,
  V extends ReadVerdict | undefined = ReadVerdict | undefined,
> {
  readonly about: string
  readonly mode: M
  readonly payload: Check<P>
  readonly sync: boolean
  readonly rewrites: R | undefined
  readonly fields: F
  readonly verdict: V
  readonly merge: MergeResults | undefined
  readonly subject: string
  readonly timeoutMs: number
  readonly onFailure: Policy
  readonly awaitsOnlyTransformers: boolean
  readonly maxBlocksInARow: number | undefined
  readonly aliases: readonly string[]
}

/**
 * An event without its types. `createHooks({ events })` takes these: a generic row there would make the compiler infer
 * `unknown` for the payload of an event that is defined inline.
 */
export interface AnyEventRow extends Omit<EventRow, 'payload' | 'fields'> {
  readonly payload: (value: unknown) => Problem | undefined
  readonly fields: Readonly<
    Record<string, { readonly check: (value: unknown) => Problem | undefined; readonly merge: MergeRule }>
  >
}

/** Events by name. */
export type EventRows = Readonly<Record<string, AnyEventRow>>

// biome-ignore lint/complexity/noBannedTypes: an event without result fields has exactly this type
type NoFields = {}

/** The result field that every claim event has. */
const claimFields = { handled: field(flag, sticky) }

/**
 * Defines an event. The types of payload, result and decision are inferred from it. Throws `config.event` if the
 * properties contradict one another.
 *
 * ```ts
 * const hooks = createHooks({
 *   events: {
 *     deploy: defineEvent({
 *       about: 'Before a deployment.',
 *       mode: 'gate',
 *       payload: check.shape({ service: check.text, dry: check.optional(check.flag) }),
 *       subject: 'service',
 *     }),
 *   },
 * })
 * hooks.on('deploy', { matcher: '^billing$' }, ({ dry }) => (dry ? undefined : block('billing is frozen')))
 * ```
 */
export function defineEvent<P, M extends Mode, R extends string = never, F extends Fields = NoFields>(
  spec: EventSpec<P, M, R, F> & { readonly verdict: ReadVerdict },
): EventRow<P, M, R, F, ReadVerdict>
export function defineEvent<P, M extends Mode, R extends string = never, F extends Fields = NoFields>(
  spec: EventSpec<P, M, R, F>,
): EventRow<P, M, R, F, undefined>
export function defineEvent<P, M extends Mode, R extends string, F extends Fields>(
  spec: EventSpec<P, M, R, F>,
): EventRow<P, M, R, F> {
  if (!isRecord(spec)) throw new HookError('config.event', 'an event row must be an object')
  const row: EventRow<P, M, R, F> = {
    about: spec.about,
    mode: spec.mode,
    payload: spec.payload,
    sync: spec.sync ?? false,
    rewrites: spec.rewrites,
    // The default of F is the empty object, so an absent `fields` is exactly F; `FieldsOf` knows of `handled`.
    fields: { ...(spec.mode === 'claim' ? claimFields : {}), ...spec.fields } as F,
    verdict: spec.verdict,
    merge: spec.merge,
    subject: spec.subject ?? 'tool_name',
    timeoutMs: spec.timeoutMs ?? 5_000,
    onFailure: spec.onFailure ?? (spec.mode === 'gate' ? 'block' : 'allow'),
    awaitsOnlyTransformers: spec.awaitsOnlyTransformers ?? false,
    maxBlocksInARow: spec.maxBlocksInARow,
    aliases: spec.aliases ?? [],
  }
  assertConsistent(row)
  rows.add(row)
  return Object.freeze(row)
}

const rows = new WeakSet<object>()

/** Whether a value was made with `defineEvent`. */
export function isEventRow(value: unknown): value is EventRow {
  return typeof value === 'object' && value !== null && rows.has(value)
}

function assertConsistent(row: EventRow): void {
  const refuse = (property: string, why: string): never => {
    throw new HookError('config.event', `event property ${property}: ${why}`, { at: property })
  }
  const answers = row.rewrites !== undefined || Object.keys(row.fields).length > 0
  if (!modes.includes(row.mode)) refuse('mode', `unknown mode ${String(row.mode)}`)
  if (typeof row.payload !== 'function') refuse('payload', 'must be a check function')
  if (row.sync && row.mode === 'observe') refuse('sync', 'an observe event is never waited for')
  if (row.mode === 'observe' && answers) refuse('fields', 'an observe event has no result')
  if (!(Number.isInteger(row.timeoutMs) && row.timeoutMs > 0))
    refuse('timeoutMs', 'must be a whole number above zero')
  if (row.onFailure !== 'block' && row.onFailure !== 'allow') refuse('onFailure', 'must be block or allow')
  if (row.onFailure === 'block' && row.mode !== 'gate') refuse('onFailure', 'only a gate can block')
  if (row.maxBlocksInARow !== undefined && row.mode !== 'gate')
    refuse('maxBlocksInARow', 'only a gate can block')
}

// Types that are inferred from an event.

/** The payload of an event. */
export type PayloadOf<Row> = Row extends EventRow<infer P, Mode, string, Fields> ? P : never
/** The input of an event that hooks may rewrite; never if it has none. */
export type InputOf<Row> =
  Row extends EventRow<infer P, Mode, infer R, Fields>
    ? [R] extends [never]
      ? never
      : R extends keyof P
        ? P[R]
        : never
    : never
/** The result fields of an event. */
export type FieldsOf<Row> =
  Row extends EventRow<unknown, infer M, string, infer F>
    ? { readonly [K in keyof F | Claimed<M>]?: K extends keyof F ? Checked<F[K]['check']> : boolean }
    : never
type Claimed<M> = M extends 'claim' ? 'handled' : never

/**
 * The result fields as a whole result. Never for an event without fields, because the empty object type would accept every
 * value, and for a gate that derives no verdict from them.
 */
type FieldsResult<Row> = [keyof FieldsOf<Row>] extends [never]
  ? never
  : Row extends { readonly mode: 'gate'; readonly verdict: undefined }
    ? never
    : FieldsOf<Row>

type ModeOf<Row> = Row extends EventRow<unknown, infer M, string, Fields> ? M : never

/** In a result with a `kind` these keys belong to the verdict, even if the event has a field of that name. */
type VerdictKey = 'kind' | 'reason' | 'message' | 'grant' | 'input' | 'context'
/** `Omit` would lose the literal types of a hook's fields during inference, so it is used only where it is needed. */
type VerdictFields<F> = keyof F & VerdictKey extends never ? F : Omit<F, VerdictKey>

// Equivalent to `unknown`. With `unknown` itself, the union with the other modes would collapse during inference, and
// strings in a result would lose their literal types.
// biome-ignore lint/complexity/noBannedTypes: see above
type Anything = {} | null | undefined

/** What a hook of this event may return. */
export type ResultOf<Row> =
  ModeOf<Row> extends 'observe'
    ? Anything
    : ModeOf<Row> extends 'claim'
      ? undefined | ({ readonly handled: boolean } & Omit<FieldsOf<Row>, 'handled'>)
      : undefined | (Verdict<InputOf<Row>> & VerdictFields<FieldsOf<Row>>) | FieldsResult<Row>
