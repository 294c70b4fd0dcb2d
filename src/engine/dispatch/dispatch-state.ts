import type { Envelope, HookContext } from '../core/context.ts'
import type { Sink } from '../core/records/sink.ts'
import { freezeDeep } from '../core/values/freeze.ts'
import { createEffectsReader, type ReadEffects } from '../match/effects/call-effects.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import type { ResolvedHooks } from './event-hooks.ts'
import type { ExecutionLog } from './execution-log.ts'

/**
 * State that few dispatches need. It is a separate object because every dispatch pays for each field of its own. After
 * a missed deadline the dispatch passes it on to its successor.
 */
export class DispatchExtras {
  id: string | undefined
  time: number | undefined
  /** Receives the record of this dispatch, in place of the engine's sink. */
  sink: Sink | undefined
  /** The payload before the first rewrite, and whether there was one. */
  original: unknown
  rewritten = false
  /** Which input each hook passed; kept only for hooks that must see the final one. */
  readonly passedInputs = new Map<CompiledHook, unknown>()
  /** Hooks whose guards let them run; the second pass does not ask the guards again. */
  readonly firedHooks = new Set<CompiledHook>()
  secondPass = false
  log: ExecutionLog | undefined
  wantsTrace = false
  /** When the running handler was called, if durations are measured. */
  startedAt = Number.NaN
  /** How long the whole dispatch took, if durations are measured. */
  durationMs = 0
  /** What the running hook has reported so far. */
  facts: Readonly<Record<string, unknown>> | undefined
  /** Reads what the call does; made for the first hook that looks at effects. */
  effects: ReadEffects | undefined
  /** Hooks that run detached from the answer. */
  readonly detached: Dispatch[] = []
  /** The dispatch that continues after a missed deadline. */
  successor: Dispatch | undefined
  removeAbortListener: (() => void) | undefined
}

// Outside of the object: few handlers ask for a signal, and each successor has its own.
const controllers = new WeakMap<DispatchState, AbortController>()
const aborted = new WeakSet<DispatchState>()

/** What handlers see of a dispatch. Id, time, envelope and signal cost something, so they are made on first use. */
export abstract class DispatchState implements HookContext {
  // The constructor of Dispatch assigns these; `declare`, because a field would be written twice otherwise.
  declare resolved: ResolvedHooks
  /** As the caller gave it; hooks see it frozen. */
  declare givenEnvelope: Envelope
  /** The payload with the changes that hooks have made so far. */
  declare payload: unknown
  declare extras: DispatchExtras | null

  get event(): string {
    return this.resolved.eventHooks.event
  }

  get id(): string {
    const extras = this.withExtras()
    extras.id ??= this.givenEnvelope.id ?? this.resolved.engine.newId()
    return extras.id
  }

  get time(): number {
    const extras = this.withExtras()
    extras.time ??= this.givenEnvelope.time ?? this.resolved.engine.clock.now()
    return extras.time
  }

  get depth(): number {
    return this.givenEnvelope.depth ?? 0
  }

  get envelope(): Envelope {
    freezeDeep(this.givenEnvelope)
    return this.givenEnvelope
  }

  abstract get timeoutMs(): number

  get original(): unknown {
    return this.extras?.rewritten ? this.extras.original : this.payload
  }

  get signal(): AbortSignal {
    const controller = controllers.get(this) ?? new AbortController()
    controllers.set(this, controller)
    if (aborted.has(this)) controller.abort()
    return controller.signal
  }

  /** Whether a handler has asked for the signal. */
  get hasSignal(): boolean {
    return controllers.has(this)
  }

  report(facts: Readonly<Record<string, unknown>>): void {
    // A hook whose deadline has passed must not write into the record of another one.
    if (aborted.has(this)) return
    const extras = this.withExtras()
    extras.facts = { ...extras.facts, ...facts }
  }

  /** Aborts the signal of the running hook, also for a handler that asks for the signal later. */
  abortSignal(): void {
    aborted.add(this)
    controllers.get(this)?.abort()
  }

  /** Reads what the call does, once for all hooks of the dispatch. */
  get effects(): ReadEffects | undefined {
    const { shell } = this.resolved.engine
    if (shell === undefined) return undefined
    const extras = this.withExtras()
    extras.effects ??= createEffectsReader(shell)
    return extras.effects
  }

  withExtras(): DispatchExtras {
    this.extras ??= new DispatchExtras()
    return this.extras
  }
}
