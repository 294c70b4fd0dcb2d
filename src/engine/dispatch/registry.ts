import type { HookId } from '../core/decision.ts'
import { HookError } from '../core/errors/error.ts'
import type { EventRow, EventRows } from '../core/event.ts'
import type { Handler, Host } from '../core/handler.ts'
import { isRecord } from '../core/schema/check.ts'
import type { ResolveEventName } from '../events/event-names.ts'
import type { HookDefinition } from '../hook-definition.ts'
import { readHookDefinition } from '../hook-definition.ts'
import { bindHandler, type CompiledHook, compileHook, type Run } from './compiled-hook.ts'
import type { Engine } from './engine.ts'
import { type EventHooks, orderHooks } from './event-hooks.ts'
import type { Watch } from './watchdog.ts'

const MAX_SPELLINGS = 1_000

/** Removes what a call has registered; calling it again does nothing. */
export type Undo = () => void

/** What holds for all hooks of a group. */
export interface GroupOptions {
  /**
   * The hooks belong to this folder, and the agent works in another one. They may block or ask; their changes and permissions are
   * not applied, and the decision says so in `ignored`. A relative path in their conditions means this folder.
   */
  readonly otherFolder?: string
}

interface RegistryParts {
  /** Creates the engine, given the function that switches a failing hook off. */
  createEngine(trip: (hook: CompiledHook) => HookDefinition | undefined): Engine
  readonly rows: EventRows
  readonly resolve: ResolveEventName
  readonly handlers: ReadonlyMap<string, Handler>
  readonly host: Host
  readonly watch: Watch | undefined
}

/**
 * The registered hooks, and per event the ordered list made from them. A list is never changed, only replaced: a
 * dispatch that has started keeps its own.
 */
export class Registry {
  readonly engine: Engine
  readonly #parts: RegistryParts
  readonly #hooks = new Map<HookId, CompiledHook>()
  readonly #serials = new Map<HookId, number>()
  readonly #byEvent = new Map<string, EventHooks>()
  readonly #groups = new Map<string, ReadonlySet<HookId>>()
  /** The definition object that each hook of a group was made from. */
  readonly #given = new Map<HookId, unknown>()
  #created = 0
  #serial = 0
  /** Comparing a name is cheaper than looking it up, and the same event often comes several times in a row. */
  private last: EventHooks | undefined

  constructor(parts: RegistryParts) {
    this.#parts = parts
    this.engine = parts.createEngine((hook) => this.trip(hook))
  }

  add(given: unknown, run?: Run): Undo {
    const hook = this.#compile(given, run)
    this.#requireFreeId(hook.id)
    const serial = this.#put(hook)
    this.#clearLists()
    return () => {
      // A later registration may use the same id; its hook stays.
      if (this.#serials.get(hook.id) !== serial) return
      this.#remove(hook.id)
      this.#clearLists()
    }
  }

  /** Replaces all hooks of a group at once; one bad definition changes nothing. */
  replace(group: string, definitions: readonly unknown[], { otherFolder }: GroupOptions = {}): void {
    const before = this.#groups.get(group) ?? new Set()
    // The same object as before means the same hook, which keeps the count of its breaker.
    const kept = new Map([...before].map((id) => [this.#given.get(id), this.#hooks.get(id)]))
    const hooks = definitions.map(
      (definition) => kept.get(definition) ?? this.#compile(definition, undefined, otherFolder),
    )
    const ids = new Set<HookId>()
    for (const { id } of hooks) {
      if (ids.has(id)) throw duplicate(id)
      if (!before.has(id)) this.#requireFreeId(id)
      ids.add(id)
    }
    // Hooks that stay in the same order keep their place among hooks of equal priority.
    const isSameOrder =
      hooks.length === before.size && [...before].every((id, index) => hooks[index]?.id === id)
    if (!isSameOrder) for (const id of before) this.#remove(id)
    hooks.forEach((hook, index) => {
      this.#put(hook)
      this.#given.set(hook.id, definitions[index])
    })
    if (ids.size === 0) this.#groups.delete(group)
    else this.#groups.set(group, ids)
    this.#clearLists()
  }

  #compile(given: unknown, run?: Run, otherFolder?: string): CompiledHook {
    const definition = this.#complete(readHookDefinition(given))
    const handler = run === undefined ? this.#handler(definition) : undefined
    const bound = handler === undefined ? run : bindHandler(handler, definition, this.#parts.host)
    if (bound === undefined) throw new HookError('config.unknown_handler', 'a hook has nothing to run')
    const watched = this.#parts.watch?.(bound, definition) ?? bound
    const hook = compileHook(definition, this.row(definition.event), {
      ...{ run: watched, timeoutCode: handler?.timeoutCode, otherFolder },
    })
    if (hook.matcher.readsEffects) requireAnalyzer(this.engine, hook.id)
    return hook
  }

  #requireFreeId(id: HookId): void {
    if (this.#hooks.has(id)) throw duplicate(id)
  }

  #put(hook: CompiledHook): number {
    this.#hooks.set(hook.id, hook)
    this.#serials.set(hook.id, ++this.#serial)
    return this.#serial
  }

  #remove(id: HookId): void {
    this.#hooks.delete(id)
    this.#serials.delete(id)
    this.#given.delete(id)
  }

  addFunction(event: string, settings: unknown, run: Run): Undo {
    const options = readHookDefinition({
      ...(isRecord(settings) ? settings : { options: settings }),
      event,
      handler_type: 'function',
    })
    if (this.row(this.#parts.resolve(event)).sync && run.constructor.name === 'AsyncFunction') {
      const message = `${event} is synchronous, so its hooks cannot be async functions`
      throw new HookError('handler.must_be_sync', message)
    }
    return this.add(options, run)
  }

  /** Switches a hook on or off; on resets its breaker. */
  toggle(id: HookId, enabled: boolean): void {
    this.#change(id, { enabled, disabled_reason: undefined, tripped_by: undefined })
  }

  /** Switches a hook off because it keeps failing; undefined if it is off already. */
  trip(hook: CompiledHook): HookDefinition | undefined {
    const { id, health } = hook
    if (this.#hooks.get(id) !== hook) return undefined
    return this.#change(id, { enabled: false, disabled_reason: 'breaker', tripped_by: health.because })
  }

  /** Changes a hook in place, keeping its rank among hooks of equal priority. */
  #change(id: HookId, changes: Readonly<Record<string, unknown>>): HookDefinition {
    const hook = this.#hooks.get(id)
    if (hook === undefined) throw new HookError('config.unknown_hook', `there is no hook ${id}`)
    const definition = readHookDefinition({ ...hook.definition, ...changes })
    this.#given.delete(id)
    this.#hooks.set(id, compileHook(definition, this.row(definition.event), hook))
    this.#clearLists()
    return definition
  }

  /** The ordered hooks of an event, by any spelling of its name. */
  hooksOf(name: string): EventHooks {
    const { last } = this
    if (last !== undefined && name === last.event) return last
    return this.#find(name)
  }

  #find(name: string): EventHooks {
    const known = this.#byEvent.get(name)
    if (known !== undefined) {
      this.last = known
      return known
    }
    const event = this.#parts.resolve(name)
    const hooks = [...this.#hooks.values()].filter((hook) => hook.event === event)
    const ordered = this.#byEvent.get(event) ?? orderHooks(this.engine, event, this.row(event), hooks)
    this.#byEvent.set(event, ordered)
    // A name has any number of spellings, so only so many are remembered.
    if (this.#byEvent.size < MAX_SPELLINGS) this.#byEvent.set(name, ordered)
    return ordered
  }

  #clearLists(): void {
    this.last = undefined
    this.#byEvent.clear()
  }

  list(): readonly CompiledHook[] {
    return [...this.#hooks.values()]
  }

  row(event: string): EventRow {
    const row = this.#parts.rows[event]
    if (row === undefined) throw new HookError('input.unknown_event', `unknown event ${event}`)
    return row
  }

  #complete(definition: HookDefinition): HookDefinition {
    const event = this.#parts.resolve(definition.event)
    const freshId = (): string => {
      const id = `${definition.name ?? event}#${++this.#created}`
      return this.#hooks.has(id) ? freshId() : id
    }
    return Object.freeze({ ...definition, id: definition.id ?? freshId(), event })
  }

  #handler(definition: HookDefinition): Handler {
    const { handler_type } = definition
    const handler = this.#parts.handlers.get(handler_type)
    if (handler !== undefined) return handler
    const at = 'handler_type'
    throw new HookError('config.unknown_handler', `no handler for handler_type ${handler_type}`, { at })
  }
}

/** Calls the analyser once, so that one that cannot be loaded is refused now and not at the first dispatch. */
function requireAnalyzer({ shell }: Engine, id: HookId): void {
  const message = `hook ${id} looks at shell commands, and there is no analyser of them`
  if (shell === undefined) throw new HookError('config.no_shell', message)
  try {
    shell('', {})
  } catch (cause) {
    throw new HookError('config.no_shell', message, { cause })
  }
}

function duplicate(id: HookId): HookError {
  return new HookError('config.duplicate_id', `there is already a hook ${id}`, { at: 'id' })
}
