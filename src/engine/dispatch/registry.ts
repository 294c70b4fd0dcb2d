import { isRecord } from '../core/check.ts'
import type { HookId } from '../core/decision.ts'
import { HookError } from '../core/error.ts'
import type { EventRow, EventRows } from '../core/event.ts'
import type { Handler, Host } from '../core/handler.ts'
import type { ResolveName } from '../events/names.ts'
import type { HookDefinition } from '../hook-definition.ts'
import { readHookDefinition } from '../hook-definition.ts'
import { bindHandler, type CompiledHook, compileHook, type Run } from './compiled-hook.ts'
import type { Engine } from './engine.ts'
import { makePlan, type Plan } from './plan.ts'
import type { Watch } from './watchdog.ts'

const MAX_SPELLINGS = 1_000

export type Undo = () => void

interface RegistryParts {
  readonly rows: EventRows
  readonly resolve: ResolveName
  readonly handlers: ReadonlyMap<string, Handler>
  readonly host: Host
  readonly engine: Engine
  readonly watch: Watch | undefined
}

/**
 * The hooks, and the plans made from them. A plan is never changed, only replaced: a dispatch under way keeps the
 * one it started with.
 */
export class Registry {
  readonly #parts: RegistryParts
  readonly #hooks = new Map<HookId, CompiledHook>()
  readonly #serials = new Map<HookId, number>()
  readonly #plans = new Map<string, Plan>()
  readonly #groups = new Map<string, ReadonlySet<HookId>>()
  /** What each hook of a group was made from. */
  readonly #given = new Map<HookId, unknown>()
  #created = 0
  #serial = 0
  /** Comparing a name is cheaper than looking it up, and events come in rows. */
  private lastPlan: Plan | undefined

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  add(given: unknown, run?: Run): Undo {
    const hook = this.#compile(given, run)
    this.#refuseTaken(hook.id)
    const serial = this.#put(hook)
    this.#forget()
    return () => {
      // A later registration may have taken the id over; its hook is not ours to remove.
      if (this.#serials.get(hook.id) !== serial) return
      this.#remove(hook.id)
      this.#forget()
    }
  }

  /** Puts all hooks of a group in the place of those it had, at once; one bad definition changes nothing. */
  replace(group: string, definitions: readonly unknown[]): void {
    const before = this.#groups.get(group) ?? new Set()
    // The very same object as before means the same hook: it keeps what its breaker remembers.
    const kept = new Map([...before].map((id) => [this.#given.get(id), this.#hooks.get(id)]))
    const hooks = definitions.map((definition) => kept.get(definition) ?? this.#compile(definition))
    const ids = new Set<HookId>()
    for (const { id } of hooks) {
      if (ids.has(id)) throw duplicate(id)
      if (!before.has(id)) this.#refuseTaken(id)
      ids.add(id)
    }
    for (const id of before) this.#remove(id)
    hooks.forEach((hook, place) => {
      this.#put(hook)
      this.#given.set(hook.id, definitions[place])
    })
    this.#groups.set(group, ids)
    this.#forget()
  }

  #compile(given: unknown, run?: Run): CompiledHook {
    const definition = this.#complete(readHookDefinition(given))
    const handler = run === undefined ? this.#handler(definition) : undefined
    const bound = handler === undefined ? run : bindHandler(handler, definition, this.#parts.host)
    if (bound === undefined) throw new HookError('config.unknown_handler', 'a hook has nothing to run')
    const watched = this.#parts.watch?.(bound, definition) ?? bound
    return compileHook(definition, this.row(definition.event), watched, handler?.timeoutCode)
  }

  #refuseTaken(id: HookId): void {
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
      throw new HookError(
        'handler.must_be_sync',
        `${event} is synchronous, so its hooks cannot be async functions`,
      )
    }
    return this.add(options, run)
  }

  /** Switched off by a person is off; switched on again starts with a clean slate. */
  toggle(id: HookId, enabled: boolean): void {
    this.#change(id, { enabled, disabled_reason: undefined })
  }

  /** Switches a hook off because it keeps failing; false when it is off already. */
  trip(hook: CompiledHook): boolean {
    const current = this.#hooks.get(hook.id)
    if (current !== hook || hook.tripped) return false
    this.#change(hook.id, { enabled: false, disabled_reason: 'breaker' })
    return true
  }

  /** Changes a hook in place, keeping its rank among hooks of equal priority. */
  #change(id: HookId, changes: { enabled: boolean; disabled_reason: string | undefined }): void {
    const hook = this.#hooks.get(id)
    if (hook === undefined) throw new HookError('config.unknown_hook', `there is no hook ${id}`)
    const definition = readHookDefinition({ ...hook.definition, ...changes })
    this.#given.delete(id)
    this.#hooks.set(id, compileHook(definition, this.row(definition.event), hook.run, hook.timeoutCode))
    this.#forget()
  }

  /** The plan of an event, by any of its names. */
  plan(name: string): Plan {
    const { lastPlan } = this
    if (lastPlan !== undefined && name === lastPlan.event) return lastPlan
    return this.#find(name)
  }

  #find(name: string): Plan {
    const known = this.#plans.get(name)
    if (known !== undefined) {
      this.lastPlan = known
      return known
    }
    const event = this.#parts.resolve(name)
    const hooks = [...this.#hooks.values()].filter((hook) => hook.event === event)
    const plan = this.#plans.get(event) ?? makePlan(this.#parts.engine, event, this.row(event), hooks)
    this.#plans.set(event, plan)
    // A name has any number of spellings, so only so many are remembered.
    if (this.#plans.size < MAX_SPELLINGS) this.#plans.set(name, plan)
    return plan
  }

  #forget(): void {
    this.lastPlan = undefined
    this.#plans.clear()
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

function duplicate(id: HookId): HookError {
  return new HookError('config.duplicate_id', `there is already a hook ${id}`, { at: 'id' })
}
