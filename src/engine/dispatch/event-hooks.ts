import type { Envelope } from '../core/context.ts'
import type { EventRow } from '../core/event.ts'
import type { TraceHook } from '../core/records/trace.ts'
import { createEffectsReader } from '../match/effects/call-effects.ts'
import { explainMatch, explainNameMiss } from '../match/explain-match.ts'
import { joinToolNames } from '../match/tool-names.ts'
import { type CompiledHook, envelopeFor } from './compiled-hook.ts'
import { ticksFor } from './deadline-timer.ts'
import type { Engine } from './engine.ts'

const MAX_NAMES = 1_024
/** A longer name is resolved each time: a thousand names of any length would fill the memory. */
const MAX_NAME_LENGTH = 1_024

/** decide: its result counts · observe: no caller waits for it · shadow: only its record is kept */
export type DispatchRole = 'decide' | 'observe' | 'shadow'

/** The hooks of one event that apply to one tool name. All dispatches of that event and name share the object. */
export interface ResolvedHooks {
  readonly engine: Engine
  readonly eventHooks: EventHooks
  readonly role: DispatchRole
  /** Run one after the other, in order, and decide. */
  readonly hooks: readonly CompiledHook[]
  /** Run detached from the answer. */
  readonly observers: readonly CompiledHook[]
  /** How long all deciding hooks may take together. */
  readonly budgetTicks: number
  /** Blocks in a row are counted, so an allow has to be reported too. */
  readonly countsBlocks: boolean
  /** No deciding hook has a condition or guard to evaluate. */
  readonly allPlain: boolean
  /** There are no observers, and no sink measures durations. */
  readonly simple: boolean
  /** No hook applies and no sink listens. */
  readonly silent: boolean
  /** Why the other hooks of the event do not apply: another name, or switched off. Computed once. */
  readonly misses: () => ReadonlyMap<CompiledHook, TraceHook>
}

/** The immutable, ordered hooks of one event. It remembers which of them apply to a tool name. */
export interface EventHooks {
  readonly event: string
  readonly row: EventRow
  readonly hooks: readonly CompiledHook[]
  /** Switched off by a person or a file; listed in traces only. */
  readonly disabled: readonly CompiledHook[]
  /** The hooks for this payload. Does not read the name if no hook asks for one. */
  resolve(payload: unknown): ResolvedHooks
  resolveName(name: string): ResolvedHooks
}

/** Locked hooks first, then by priority, then in order of creation, which a stable sort keeps. */
function inOrder(a: CompiledHook, b: CompiledHook): number {
  const locked = Number(b.definition.locked ?? false) - Number(a.definition.locked ?? false)
  return locked || (b.definition.priority ?? 0) - (a.definition.priority ?? 0)
}

/** Orders the hooks of one event. */
export function orderHooks(
  engine: Engine,
  event: string,
  row: EventRow,
  all: readonly CompiledHook[],
): EventHooks {
  const byName = new Map<string, ResolvedHooks>()
  const resolveName = (name: string): ResolvedHooks => {
    const known = byName.get(name)
    if (known !== undefined) return known
    // Agents choose the names, so there may be any number of them.
    if (byName.size >= MAX_NAMES) byName.clear()
    const resolved = resolveHooks(engine, eventHooks, name)
    if (name.length <= MAX_NAME_LENGTH) byName.set(name, resolved)
    return resolved
  }
  const eventHooks: EventHooks = {
    event,
    row,
    hooks: all.filter((hook) => hook.definition.enabled !== false || hook.trippedBy).sort(inOrder),
    disabled: all.filter((hook) => hook.definition.enabled === false && !hook.trippedBy),
    resolve: (payload) => forAnyName ?? resolveName(subjectOf(row, payload)),
    resolveName,
  }
  const asksForName = eventHooks.hooks.some((hook) => hook.matcher.parts.some((part) => part.byName))
  const forAnyName = asksForName ? undefined : resolveName('')
  return eventHooks
}

function resolveHooks(engine: Engine, eventHooks: EventHooks, name: string): ResolvedHooks {
  const { row } = eventHooks
  const observes = (hook: CompiledHook) =>
    row.mode === 'observe' || (row.awaitsOnlyTransformers && hook.definition.transform !== true)
  const matching = eventHooks.hooks.filter((hook) => hook.matcher.byName(name))
  const hooks = matching.filter((hook) => !observes(hook))
  const observers = matching.filter(observes)
  const budgetMs = hooks.reduce((longest, hook) => Math.max(longest, hook.timeoutMs), engine.budgetMs)
  return {
    engine,
    eventHooks,
    role: 'decide',
    hooks,
    observers,
    budgetTicks: ticksFor(budgetMs),
    countsBlocks: row.maxBlocksInARow !== undefined,
    allPlain: hooks.every((hook) => hook.plain),
    simple: observers.length === 0 && engine.sink?.timed !== true,
    silent: matching.length === 0 && engine.sink === undefined,
    misses: once(() => explainMisses(eventHooks, name, new Set(matching))),
  }
}

function explainMisses(
  { hooks, disabled }: EventHooks,
  name: string,
  matching: ReadonlySet<CompiledHook>,
): ReadonlyMap<CompiledHook, TraceHook> {
  const missed = hooks.filter((hook) => !matching.has(hook))
  return new Map([
    ...missed.map((hook) => [hook, traceMiss(hook, explainNameMiss(hook.matcher, name))] as const),
    ...disabled.map((hook) => {
      const { disabled_reason: reason } = hook.definition
      return [hook, traceMiss(hook, `disabled${reason ? `: ${reason}` : ''}`)] as const
    }),
  ])
}

function traceMiss({ id, definition }: CompiledHook, because: string): TraceHook {
  const name = definition.name === undefined ? {} : { name: definition.name }
  return { hook: id, ...name, matched: false, because, executions: [] }
}

function once<T>(compute: () => T): () => T {
  let computed: T | undefined
  return () => {
    computed ??= compute()
    return computed
  }
}

const noMisses = new Map<CompiledHook, TraceHook>()

/** One hook of these, to run detached from them. */
export function detachedHook(
  { engine, eventHooks }: ResolvedHooks,
  hook: CompiledHook,
  role: Exclude<DispatchRole, 'decide'>,
): ResolvedHooks {
  return {
    engine,
    eventHooks,
    role,
    hooks: [hook],
    observers: [],
    budgetTicks: hook.ticks,
    countsBlocks: false,
    allPlain: hook.plain,
    simple: true,
    silent: false,
    misses: () => noMisses,
  }
}

/** Observers that match, and those whose condition cannot be evaluated: running them records the failure. */
export function matchingObservers(
  eventHooks: EventHooks,
  payload: unknown,
  envelope: Envelope,
): readonly CompiledHook[] {
  const { observers, engine } = eventHooks.resolve(payload)
  if (observers.length === 0) return observers
  const { event, row } = eventHooks
  const { shell } = engine
  const effects = shell === undefined ? {} : { effects: createEffectsReader(shell) }
  const input = { event, name: subjectOf(row, payload), payload, ...effects }
  return observers.filter(
    (hook) =>
      explainMatch(hook.matcher, { ...input, envelope: envelopeFor(hook, envelope) }).result !== 'missed',
  )
}

interface NamedPayload {
  readonly tool_name?: unknown
  readonly native_tool_name?: unknown
  readonly [key: string]: unknown
}

/** The name that matchers look at; empty if the event has none. */
export function subjectOf(row: EventRow, payload: unknown): string {
  if (!isNamedPayload(payload)) return ''
  // `tool_name` in almost all cases. V8 reads a constant key several times faster than a computed one.
  if (row.subject !== 'tool_name') return textOrEmpty(payload[row.subject])
  const { tool_name, native_tool_name } = payload
  return native_tool_name === undefined
    ? textOrEmpty(tool_name)
    : joinToolNames(textOrEmpty(tool_name), native_tool_name)
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isNamedPayload(value: unknown): value is NamedPayload {
  return typeof value === 'object' && value !== null
}
