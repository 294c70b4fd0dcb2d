import type { Envelope, HookContext } from '../core/context.ts'
import type { Engine } from './engine.ts'
import type { Plan } from './plan.ts'
import type { WheelNode } from './wheel.ts'

/** What handlers see of a dispatch. Id, time and signal cost something, so they are made when somebody looks. */
export abstract class Moment implements HookContext, WheelNode {
  readonly engine: Engine
  readonly plan: Plan
  readonly envelope: Envelope
  readonly original: unknown
  wheelNext: WheelNode | null = null
  wheelPrev: WheelNode | null = null
  due = 0
  armedAt = 0
  #id: string | undefined
  #time: number | undefined
  #controller: AbortController | undefined
  #gaveUp = false

  constructor(engine: Engine, plan: Plan, original: unknown, envelope: Envelope) {
    this.engine = engine
    this.plan = plan
    this.original = original
    this.envelope = envelope
  }

  get event(): string {
    return this.plan.event
  }

  get id(): string {
    this.#id ??= this.envelope.id ?? this.engine.newId()
    return this.#id
  }

  get time(): number {
    this.#time ??= this.envelope.time ?? this.engine.clock.now()
    return this.#time
  }

  get depth(): number {
    return this.envelope.depth ?? 0
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#gaveUp) this.#controller.abort()
    return this.#controller.signal
  }

  /** Tells whoever holds the signal, now or later, that nobody waits any more. */
  giveUp(): void {
    this.#gaveUp = true
    this.#controller?.abort()
  }

  /** Two parts of one dispatch are one moment. */
  inherit(earlier: Moment): void {
    this.#id = earlier.id
    this.#time = earlier.time
  }

  abstract expire(): void
}
