import type { Envelope, HookContext } from '../core/context.ts'
import { Aside } from './aside.ts'
import type { Track } from './track.ts'

// Beside the dispatch rather than in it: few handlers ask for a signal, and each part of a dispatch has its own.
const controllers = new WeakMap<Moment, AbortController>()
const abandoned = new WeakSet<Moment>()

/** What handlers see of a dispatch. Id, time and signal cost something, so they are made when somebody looks. */
export abstract class Moment implements HookContext {
  // The one constructor of a dispatch assigns these; `declare`, because a field would be written twice otherwise.
  declare track: Track
  declare envelope: Envelope
  /** The payload as hooks have left it so far. */
  declare payload: unknown
  declare aside: Aside | null

  get event(): string {
    return this.track.plan.event
  }

  get id(): string {
    const aside = this.withAside()
    aside.id ??= this.envelope.id ?? this.track.engine.newId()
    return aside.id
  }

  get time(): number {
    const aside = this.withAside()
    aside.time ??= this.envelope.time ?? this.track.engine.clock.now()
    return aside.time
  }

  get depth(): number {
    return this.envelope.depth ?? 0
  }

  abstract get timeoutMs(): number

  get original(): unknown {
    return this.aside?.rewritten ? this.aside.original : this.payload
  }

  get signal(): AbortSignal {
    const controller = controllers.get(this) ?? new AbortController()
    controllers.set(this, controller)
    if (abandoned.has(this)) controller.abort()
    return controller.signal
  }

  report(facts: Readonly<Record<string, unknown>>): void {
    // A hook that nobody waits for any more must not write into the record of another.
    if (abandoned.has(this)) return
    const aside = this.withAside()
    aside.facts = { ...aside.facts, ...facts }
  }

  /** Tells whoever holds the signal, now or later, that nobody waits any more. */
  giveUp(): void {
    abandoned.add(this)
    controllers.get(this)?.abort()
  }

  withAside(): Aside {
    this.aside ??= new Aside()
    return this.aside
  }
}
