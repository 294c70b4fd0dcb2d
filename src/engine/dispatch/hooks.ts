import type { Envelope, HookContext } from '../core/context.ts'
import type { Decision, HookId } from '../core/decision.ts'
import { HookError } from '../core/errors/error.ts'
import {
  type EventRows,
  type FieldsOf,
  type InputOf,
  isEventRow,
  type PayloadOf,
  type ResultOf,
} from '../core/event.ts'
import type { GuardState } from '../core/guard-state.ts'
import type { Handler, Host } from '../core/handler.ts'
import type { Log, Sink } from '../core/records/sink.ts'
import type { AnalyzeShell } from '../core/shell-effects.ts'
import type { Clock } from '../core/time/clock.ts'
import { lazyModule } from '../core/values/lazy-module.ts'
import { type Catalogue, catalogue } from '../events/catalogue.ts'
import { createNameResolver } from '../events/event-names.ts'
import type { BreakerSettings } from '../guard/breaker.ts'
import type { HookDefinition, HookOptions } from '../hook-definition.ts'
import type { Run } from './compiled-hook.ts'
import { type DispatchOptions, dispatchEvent, NO_ENVELOPE } from './dispatch-event.ts'
import { dispatchSync } from './dispatch-sync.ts'
import { createEngine } from './engine.ts'
import { matchingObservers } from './event-hooks.ts'
import { type GroupOptions, Registry, type Undo } from './registry.ts'

/** Options of `createHooks`. All are optional. */
export interface HooksOptions<E extends EventRows> {
  /** Events of your own, made with `defineEvent`, in addition to the catalogue. */
  readonly events?: E
  /** Handlers for hooks that are added as data. */
  readonly handlers?: readonly Handler[]
  /** What your program offers to handlers. */
  readonly host?: Host
  /** Receives a record of every dispatch. */
  readonly sink?: Sink
  /** Receives the engine's log lines. */
  readonly log?: Log
  /** Where guards keep their state; in memory by default. */
  readonly guards?: GuardState
  /**
   * Returns what a shell line does: `analyzeShell` of `hookhelm/shell`. Hooks with `Tool(pattern)`, `match.command` or `shell` in
   * their `if_expr` need it.
   */
  readonly shell?: AnalyzeShell
  /** The clock; the system clock by default. Tests pass one that they move. */
  readonly clock?: Clock
  /** Called with a hook that the breaker has switched off, so that you can store it with its `tripped_by`. */
  readonly tripped?: (hook: HookDefinition) => void
  /** When a hook that keeps failing is switched off; `false` never does. */
  readonly breaker?: Partial<BreakerSettings> | false
  /** How many dispatches may cause one another; 3 by default. */
  readonly maxDepth?: number
  /** How long all hooks of one dispatch may take together; at least the longest single timeout. */
  readonly budgetMs?: number
  /** Names a handler on stderr that blocks the thread for more than a second; costs a thread. */
  readonly watchdog?: boolean
}

// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement is allowed
type Nothing = void
type HookResult<Row> = ResultOf<Row> | Nothing

/** A function hook of one event. Returning nothing means no objection. */
export type HookFunction<Row> = (
  payload: PayloadOf<Row>,
  context: HookContext,
) => HookResult<Row> | PromiseLike<HookResult<Row>>

/** The decision of one event, with the types of its input and its result fields. */
export type DecisionOf<Row> = Decision<FieldsOf<Row>, InputOf<Row>>

/** One set of hooks. `Rows` is the catalogue plus the events that you defined. */
export interface Hooks<Rows extends EventRows = Catalogue> {
  /** Registers a function; returns a function that removes it. Throws a coded error for bad options. */
  on<K extends keyof Rows & string>(event: K, hook: HookFunction<Rows[K]>): Undo
  on<K extends keyof Rows & string>(event: K, options: HookOptions, hook: HookFunction<Rows[K]>): Undo
  /** Registers a hook that is data; its `handler_type` names one of the handlers given to `createHooks`. */
  add(definition: HookDefinition): Undo
  /**
   * Replaces all hooks of a group, for example those of one file, at once. If one definition is bad it throws a coded
   * error and the group keeps its hooks. A definition object that was in the group before keeps its state.
   */
  replace(group: string, definitions: readonly HookDefinition[], options?: GroupOptions): void
  /** Sends an event through its hooks. Rejects only for input that is not an event; a failing hook follows its policy. */
  dispatch<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
    options?: DispatchOptions,
  ): Promise<DecisionOf<Rows[K]>>
  /** The same for synchronous events, without a promise. Throws for input that is not an event. */
  dispatchSync<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
  ): DecisionOf<Rows[K]>
  /** The observers that match this event: for a caller that dispatches with `observers: 'skip'` and runs them later. */
  observers<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
  ): readonly HookDefinition[]
  /** Switches a hook on or off; on also resets its breaker. Throws if there is no such hook. */
  toggle(id: HookId, enabled: boolean): void
  /** Whether any hook listens to this event. */
  has(event: keyof Rows & string): boolean
  /** All hooks, or those of one event in the order in which they run. */
  list(event?: keyof Rows & string): readonly HookDefinition[]
  /** Resolves when all detached work has ended: observers, shadow hooks and records. Call it before your process exits. */
  drain(): Promise<void>
}

// A gateway has one set of hooks per tenant; they share this.
const catalogueNames = createNameResolver(catalogue)

/**
 * Creates a set of hooks.
 *
 * ```ts
 * const hooks = createHooks()
 * hooks.on('pre_tool_use', { matcher: '^Bash$' }, ({ tool_input }) => block('no shell here'))
 * const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command: 'ls' } })
 * ```
 */
// biome-ignore lint/complexity/noBannedTypes: without events of one's own it is exactly this type
export function createHooks<const E extends EventRows = {}>(
  options: HooksOptions<E> = {},
): Hooks<Catalogue & E> {
  const registry = createRegistry(options)
  const hooks: Hooks = {
    on(event: string, given: unknown, hook?: unknown): Undo {
      const run = hook ?? given
      if (!isFunction(run)) throw new HookError('config.field', `${String(event)}: a hook must be a function`)
      return registry.addFunction(event, hook === undefined ? {} : given, run)
    },
    add: (definition) => registry.add(definition),
    replace: (group, definitions, options) => registry.replace(group, definitions, options),
    dispatch(event, payload, envelope = NO_ENVELOPE, dispatchOptions) {
      try {
        return dispatchEvent(registry.hooksOf(event), payload, envelope, dispatchOptions) as Promise<never>
      } catch (refused) {
        return Promise.reject(refused)
      }
    },
    dispatchSync: (event, payload, envelope = NO_ENVELOPE) =>
      dispatchSync(registry.hooksOf(event), payload, envelope) as never,
    observers: (event, payload, envelope = NO_ENVELOPE) =>
      matchingObservers(registry.hooksOf(event), payload, envelope).map((hook) => hook.definition),
    toggle: (id, enabled) => registry.toggle(id, enabled),
    has: (event) => registry.hooksOf(event).hooks.length > 0,
    list: (event) => {
      const listed = event === undefined ? registry.list() : registry.hooksOf(event).hooks
      return listed.map((hook) => hook.definition)
    },
    async drain() {
      const { detached } = registry.engine
      while (detached.size > 0) await Promise.allSettled(detached)
    },
  }
  // The rows determine the types only; at run time every set of hooks is the same object.
  return hooks as unknown as Hooks<Catalogue & E>
}

const watchdogModule = lazyModule<typeof import('./watchdog.ts')>(import.meta.url, './watchdog')

/** The registry of one set of hooks, with its engine. */
export function createRegistry<E extends EventRows>(options: HooksOptions<E>): Registry {
  const rows = allRows(options.events)
  return new Registry({
    rows,
    resolve: options.events === undefined ? catalogueNames : createNameResolver(rows),
    handlers: new Map((options.handlers ?? []).map((handler) => [handler.type, handler])),
    host: options.host ?? {},
    watch: options.watchdog ? watchdogModule().watchdog() : undefined,
    createEngine: (trip) =>
      createEngine(options, (hook) => {
        const tripped = trip(hook)
        if (tripped !== undefined) options.tripped?.(tripped)
        return tripped !== undefined
      }),
  })
}

function allRows(own: EventRows | undefined): EventRows {
  if (own === undefined) return catalogue
  for (const [name, row] of Object.entries(own)) {
    if (Object.hasOwn(catalogue, name))
      throw new HookError('config.event', `${name} is an event of the catalogue`, { at: name })
    if (!isEventRow(row))
      throw new HookError('config.event', `${name} was not made with defineEvent`, { at: name })
  }
  return { ...catalogue, ...own }
}

function isFunction(value: unknown): value is Run {
  return typeof value === 'function'
}
