import type { Envelope, HookContext } from '../core/context.ts'
import type { Decision, HookId } from '../core/decision.ts'
import { HookError } from '../core/error.ts'
import type { EventRows, FieldsOf, PatchOf, PayloadOf, ResultOf } from '../core/event.ts'
import type { Catalogue } from '../events/catalogue.ts'
import type { HookDefinition, HookOptions } from '../hook-definition.ts'
import { assemble, type HooksOptions } from './assemble.ts'
import type { Run } from './compiled-hook.ts'
import { conduct, type DispatchOptions, NO_ENVELOPE } from './conduct.ts'
import { conductSync } from './conduct-sync.ts'
import { observersOf } from './observers.ts'
import type { Undo } from './registry.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a hook without a return statement must be welcome
type Nothing = void
type Answered<Row> = ResultOf<Row> | Nothing

/** A function hook of one event. */
export type HookFunction<Row> = (
  payload: PayloadOf<Row>,
  context: HookContext,
) => Answered<Row> | PromiseLike<Answered<Row>>

export type DecisionOf<Row> = Decision<FieldsOf<Row>, PatchOf<Row>>

/** One set of hooks. `Rows` is the catalogue plus the events you defined. */
export interface Hooks<Rows extends EventRows = Catalogue> {
  /** Registers a function; the answer takes it away again. */
  on<K extends keyof Rows & string>(event: K, hook: HookFunction<Rows[K]>): Undo
  on<K extends keyof Rows & string>(event: K, options: HookOptions, hook: HookFunction<Rows[K]>): Undo
  /** Registers a hook that is data; its `handler_type` names one of the handlers given to `createHooks`. */
  add(definition: HookDefinition): Undo
  /** Puts a whole group of hooks, such as a file, in the place of what the group had before: all or nothing. */
  replace(group: string, definitions: readonly HookDefinition[]): void
  /** Sends an event through its hooks. Rejects only for input that is no event; a failing hook follows its policy. */
  dispatch<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
    options?: DispatchOptions,
  ): Promise<DecisionOf<Rows[K]>>
  /** The same for synchronous events, without a promise. */
  dispatchSync<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
  ): DecisionOf<Rows[K]>
  /** The hooks that run beside the answer to this event: for a caller that dispatches with `observers: 'skip'`. */
  observers<K extends keyof Rows & string>(
    event: K,
    payload: PayloadOf<Rows[K]>,
    envelope?: Envelope,
  ): readonly HookDefinition[]
  /** Switches a hook on or off; on clears what its breaker remembers. */
  toggle(id: HookId, enabled: boolean): void
  has(event: keyof Rows & string): boolean
  /** All hooks, or those of one event in the order they run. */
  list(event?: keyof Rows & string): readonly HookDefinition[]
  /** Resolves when nothing runs beside an answer any more. */
  drain(): Promise<void>
}

// biome-ignore lint/complexity/noBannedTypes: no events of one's own is exactly this type
export function createHooks<const E extends EventRows = {}>(
  options: HooksOptions<E> = {},
): Hooks<Catalogue & E> {
  const { engine, registry } = assemble(options)

  const hooks: Hooks = {
    on(event: string, given: unknown, hook?: unknown): Undo {
      const run = hook ?? given
      if (!isFunction(run)) throw new HookError('config.field', `${String(event)}: a hook must be a function`)
      const settings = hook === undefined ? {} : given
      return registry.addFunction(event, settings, run)
    },
    add: (definition) => registry.add(definition),
    replace: (group, definitions) => registry.replace(group, definitions),
    dispatch(event, payload, envelope = NO_ENVELOPE, how) {
      try {
        return conduct(engine, registry.plan(event), payload, envelope, how) as Promise<never>
      } catch (refused) {
        return Promise.reject(refused)
      }
    },
    dispatchSync: (event, payload, envelope = NO_ENVELOPE) =>
      conductSync(engine, registry.plan(event), payload, envelope) as never,
    observers: (event, payload, envelope = NO_ENVELOPE) =>
      observersOf(registry.plan(event), payload, envelope).map((hook) => hook.definition),
    toggle: (id, enabled) => registry.toggle(id, enabled),
    has: (event) => registry.plan(event).hooks.length > 0,
    list: (event) => {
      const listed = event === undefined ? registry.list() : registry.plan(event).hooks
      return listed.map((hook) => hook.definition)
    },
    async drain() {
      while (engine.detached.size > 0) await Promise.allSettled(engine.detached)
    },
  }
  // The rows decide the types; at run time every set of hooks is the same object.
  return hooks as unknown as Hooks<Catalogue & E>
}

function isFunction(value: unknown): value is Run {
  return typeof value === 'function'
}
