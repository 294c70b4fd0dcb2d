import { type Check, type Checked, flag, isRecord, type Problem } from './check.ts'
import type { Verdict } from './decision.ts'
import { HookError } from './error.ts'
import { type MergeRule, sticky } from './merge.ts'

const modes = ['observe', 'gate', 'transform', 'claim'] as const

/**
 * How the hooks of an event combine.
 * observe: all at once, never awaited, never blocks · gate: one after the other, strictest wins, first block stops
 * transform: one after the other, merged per field · claim: one after the other, first `handled` wins
 */
export type Mode = (typeof modes)[number]
export type Policy = 'block' | 'allow'

/** One field a hook may return, how it is checked and how two answers become one. */
export interface Field<T> {
  readonly check: Check<T>
  readonly merge: MergeRule
}
type Fields = Readonly<Record<string, Field<unknown>>>

export function field<T>(check: Check<T>, merge: MergeRule): Field<T> {
  return { check, merge }
}

/** What an event's own result fields say about the decision. `undefined` means nothing. */
export type ReadVerdict = (result: Readonly<Record<string, unknown>>) => Verdict | 'invalid' | undefined

/** Merges whole results, for the few events whose fields depend on one another. */
export type MergeResults = (
  before: Readonly<Record<string, unknown>> | undefined,
  next: Readonly<Record<string, unknown>>,
  by: string,
) => Readonly<Record<string, unknown>>

export interface EventSpec<P, M extends Mode, R extends string, F extends Fields> {
  /** One line: when it happens. */
  readonly about: string
  readonly mode: M
  readonly payload: Check<P>
  /** Dispatched with `dispatchSync`: no hook may wait. */
  readonly sync?: boolean
  /** The payload key that a patch replaces. */
  readonly rewrites?: R & Extract<keyof P, string>
  readonly fields?: F
  /** How the event's own fields block or ask, where it has its own result shape. */
  readonly verdict?: ReadVerdict
  readonly merge?: MergeResults
  /** The payload key that name matchers look at. */
  readonly subject?: Extract<keyof P, string>
  readonly timeoutMs?: number
  /** What a failed gate hook means unless the hook says otherwise. */
  readonly onFailure?: Policy
  /** Only hooks with `transform: true` are awaited; the others observe. */
  readonly awaitsOnlyTransformers?: boolean
  /** After so many blocks in a row in one session a block is no longer applied. */
  readonly maxBlocksInARow?: number
  /** Other harnesses' names for this moment. Spellings that differ only in case and separators need no entry. */
  readonly aliases?: readonly string[]
}

/** A row of the catalogue. */
export interface EventRow<
  P = unknown,
  M extends Mode = Mode,
  R extends string = string,
  F extends Fields = Fields,
> {
  readonly about: string
  readonly mode: M
  readonly payload: Check<P>
  readonly sync: boolean
  readonly rewrites: R | undefined
  readonly fields: F
  readonly verdict: ReadVerdict | undefined
  readonly merge: MergeResults | undefined
  readonly subject: string
  readonly timeoutMs: number
  readonly onFailure: Policy
  readonly awaitsOnlyTransformers: boolean
  readonly maxBlocksInARow: number | undefined
  readonly aliases: readonly string[]
}

/**
 * A row without its types. `createHooks({ events })` asks for these: a generic row there would tell the compiler to infer
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

/** What makes an answer a claim. */
const claimed = { handled: field(flag, sticky) }

/** Makes a row. Everything a hook author sees is inferred from it. */
export function defineEvent<P, M extends Mode, R extends string = never, F extends Fields = NoFields>(
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
    fields: { ...(spec.mode === 'claim' ? claimed : {}), ...spec.fields } as F,
    verdict: spec.verdict,
    merge: spec.merge,
    subject: spec.subject ?? 'tool_name',
    timeoutMs: spec.timeoutMs ?? 5_000,
    onFailure: spec.onFailure ?? (spec.mode === 'gate' ? 'block' : 'allow'),
    awaitsOnlyTransformers: spec.awaitsOnlyTransformers ?? false,
    maxBlocksInARow: spec.maxBlocksInARow,
    aliases: spec.aliases ?? [],
  }
  refuseContradictions(row)
  rows.add(row)
  return Object.freeze(row)
}

const rows = new WeakSet<object>()

export function isEventRow(value: unknown): value is EventRow {
  return typeof value === 'object' && value !== null && rows.has(value)
}

function refuseContradictions(row: EventRow): void {
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

// ---- what flows from a row into the types at the door ----

export type PayloadOf<Row> = Row extends EventRow<infer P, Mode, string, Fields> ? P : never
export type PatchOf<Row> =
  Row extends EventRow<infer P, Mode, infer R, Fields>
    ? [R] extends [never]
      ? never
      : R extends keyof P
        ? P[R]
        : never
    : never
export type FieldsOf<Row> =
  Row extends EventRow<unknown, infer M, string, infer F>
    ? { readonly [K in keyof F | Claimed<M>]?: K extends keyof F ? Checked<F[K]['check']> : boolean }
    : never
type Claimed<M> = M extends 'claim' ? 'handled' : never

/** Without fields there is no such answer: the empty type would welcome every value. */
type Own<F> = [keyof F] extends [never] ? never : F

type ModeOf<Row> = Row extends EventRow<unknown, infer M, string, Fields> ? M : never

/** Beside a `kind` these words mean the verdict's, even where the event has a field of that name. */
type VerdictKey = 'kind' | 'reason' | 'message' | 'grant' | 'patch' | 'context'

// All that `unknown` is, but `unknown` itself would swallow the other modes while TypeScript is still looking for the
// event, and the texts in a hook's answer would lose their literal types.
// biome-ignore lint/complexity/noBannedTypes: see above
type Anything = {} | null | undefined

/** What a hook of this event may return. */
export type ResultOf<Row> =
  ModeOf<Row> extends 'observe'
    ? Anything
    : ModeOf<Row> extends 'claim'
      ? undefined | ({ readonly handled: boolean } & Omit<FieldsOf<Row>, 'handled'>)
      : undefined | (Verdict<PatchOf<Row>> & Omit<FieldsOf<Row>, VerdictKey>) | Own<FieldsOf<Row>>
