import type { Envelope } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import type { DispatchRecord, Execution } from '../core/sink.ts'
import { isThenable } from '../core/thenable.ts'
import type { Trace } from '../core/trace.ts'
import { admit } from './admit.ts'
import { ALLOW, type Answer } from './answer.ts'
import { finishBeside, record, shadowsBehind, tellLate } from './beside.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { handling } from './handling.ts'
import { Moment } from './moment.ts'
import { executionsOf, traceOf } from './protocol.ts'
import { needsSecondPass, startSecondPass } from './second-pass.ts'
import { accept, fail, note, say, startClock } from './settle.ts'
import { settleStreak } from './streak.ts'
import { subjectOf } from './subject.ts'
import type { Role, Track } from './track.ts'
import type { Place, Waiter } from './wheel.ts'

/** What to do when a wait ends. One fixed object per kind of wait: closures are time that can be measured. */
export interface Wait {
  value(dispatch: Dispatch, value: unknown): void
  error(dispatch: Dispatch, thrown: unknown): void
  /** The deadline passed; `spent` when it was the dispatch's own. */
  expire(dispatch: Dispatch, spent: boolean): void
}

/** How a step ended: on to the next hook, wait, or the chain is at its end. */
export type Went = 'next' | 'wait' | 'stop'

let captured: (decision: Decision) => void = () => {}
const capture = (resolve: (decision: Decision) => void): void => {
  captured = resolve
}
const allowed = Promise.resolve(ALLOW)
const { then } = Promise.prototype

/**
 * One event going through its hooks: a state machine that runs on synchronously until a hook must be waited for.
 * It is at once the context its hooks see and what the timer wheel wakes, so that a dispatch is one allocation.
 */
export class Dispatch extends Moment implements DispatchRecord, Waiter {
  /** The hook whose turn it is. */
  declare index: number
  declare answer: Answer | null
  declare decision: Decision
  /** A hook ended the chain before its end. */
  declare stopped: boolean
  declare over: boolean
  declare out: Promise<Decision> | null
  declare private answering: ((decision: Decision) => void) | null
  declare private place: Place | null
  declare private waiting: Wait | null
  declare private budgetDue: number

  constructor(track: Track, payload: unknown, envelope: Envelope) {
    super()
    this.track = track
    this.payload = payload
    this.envelope = envelope
    this.aside = null
    this.index = 0
    this.answer = null
    this.decision = ALLOW
    this.stopped = false
    this.over = false
    this.out = null
    this.answering = null
    this.place = null
    this.waiting = null
    this.budgetDue = 0
  }

  get hook(): CompiledHook | undefined {
    return this.track.hooks[this.index]
  }

  get timeoutMs(): number {
    return this.hook?.timeoutMs ?? 0
  }

  /** Begins, and answers at once where nothing has to be waited for. */
  start(): Promise<Decision> {
    this.advance()
    return this.out ?? (this.decision === ALLOW ? allowed : Promise.resolve(this.decision))
  }

  /** Runs hooks until one must be waited for or the answer is found. */
  advance(): void {
    const { hooks } = this.track
    while (this.index < hooks.length) {
      const hook = hooks[this.index]
      if (hook === undefined) break
      const went = hook.plain && this.aside === null ? this.run(hook) : admit(this, hook)
      if (went === 'wait') return
      if (went === 'stop') return this.stop()
      this.index++
    }
    this.conclude()
  }

  /** Calls the handler of a hook. */
  run(hook: CompiledHook): Went {
    if (this.aside !== null) startClock(this)
    let value: unknown
    try {
      value = hook.run(this.payload, this)
      if (this.over) return this.leave(value)
      if (value === undefined) return this.take(hook, value)
      if (isThenable(value)) return this.suspend(hook, value)
    } catch (thrown) {
      return this.over ? 'wait' : fail(this, hook, 'error', 'handler.error', thrown)
    }
    return accept(this, hook, value)
  }

  /** The hook itself ended the dispatch by aborting it; what it answers is nobody's business any more. */
  private leave(value: unknown): Went {
    if (isThenable(value)) Promise.resolve(value).then(undefined, () => {})
    return 'wait'
  }

  private suspend(hook: CompiledHook, value: PromiseLike<unknown>): Went {
    if (this.track.plan.row.sync) return this.refusePromise(hook, value)
    this.wait(value, hook.ticks, handling)
    return 'wait'
  }

  /** A plain hook that says nothing leaves no trace unless somebody asked for one. */
  take(hook: CompiledHook, value: unknown): Went {
    if (value === undefined && this.aside === null && hook.plain && hook.health.failures === 0) return 'next'
    return accept(this, hook, value)
  }

  /** A synchronous event cannot wait; whatever becomes of the promise is nobody's business any more. */
  refusePromise(hook: CompiledHook, value: PromiseLike<unknown>): Went {
    Promise.resolve(value).then(undefined, () => {})
    return fail(this, hook, 'invalid', 'handler.must_be_sync', 'returned a promise on a synchronous event')
  }

  /** Goes on after a wait. */
  proceed(went: Went): void {
    if (went === 'wait') return
    if (went === 'stop') return this.stop()
    this.index++
    this.advance()
  }

  stop(): void {
    this.stopped = true
    if (this.answer?.kind === 'block') shadowsBehind(this)
    this.conclude()
  }

  /** Waits under a deadline: the given one, or the end of the dispatch's budget if that comes first. */
  wait(value: PromiseLike<unknown>, ticks: number, wait: Wait): void {
    const { engine, budgetTicks } = this.track
    const { wheel } = engine
    if (this.answering === null) this.open()
    if (this.budgetDue === 0) this.budgetDue = wheel.tick + budgetTicks + 1
    this.place ??= wheel.take(this)
    this.waiting = wait
    wheel.arm(this.place, Math.min(wheel.tick + ticks + 1, this.budgetDue))
    // Only a real promise calls back once, later, and with one of the two. Anything else could answer for a dispatch
    // that waits at the same place after this one.
    const kept = value.then === then ? value : new Promise((resolve, reject) => value.then(resolve, reject))
    kept.then(this.place.onValue, this.place.onError)
  }

  /** From now on the answer is a promise. */
  open(): void {
    this.out = new Promise(capture)
    this.answering = captured
  }

  settled(value: unknown): void {
    const wait = this.waiting
    this.waiting = null
    if (wait !== handling) return wait?.value(this, value)
    const { hooks } = this.track
    const hook = hooks[this.index]
    if (hook === undefined) return
    const went = this.take(hook, value)
    if (went === 'stop') return this.stop()
    if (++this.index < hooks.length) return this.advance()
    this.conclude()
  }

  rejected(thrown: unknown): void {
    const wait = this.waiting
    this.waiting = null
    wait?.error(this, thrown)
  }

  stalled(ticks: number): void {
    this.budgetDue += ticks
  }

  expired(): void {
    const wait = this.waiting
    const spent = this.track.engine.wheel.tick >= this.budgetDue
    const heir = this.bequeath()
    this.giveUp()
    wait?.expire(heir, spent)
  }

  /** Leaves the promise that is still waited for to itself; should it settle after all, that is told and no more. */
  private abandon(): void {
    const { engine } = this.track
    const execution = { hook: this.hook?.id ?? '', decision: 'late', code: 'engine.late' } as const
    this.waiting = null
    if (this.place === null) return
    engine.wheel.abandon(this.place, () => tellLate(execution, this))
    this.place = null
  }

  /** A successor with all that is known so far: late answers find this one done, and its signal aborted. */
  private bequeath(): Dispatch {
    const heir = new Dispatch(this.track, this.payload, this.envelope)
    heir.aside = this.withAside()
    heir.aside.heir = heir
    heir.index = this.index
    heir.answer = this.answer
    heir.out = this.out
    heir.budgetDue = this.budgetDue
    heir.answering = this.answering
    this.abandon()
    this.over = true
    return heir
  }

  /** This dispatch, or the one it went on as. */
  get latest(): Dispatch {
    return this.aside?.heir ?? this
  }

  /** The caller no longer wants an answer: a gate closes, everything else keeps what it has. */
  abort(): void {
    const { hook, track } = this
    if (this.over) return
    this.abandon()
    this.giveUp()
    if (hook !== undefined) note(this, hook, { decision: 'aborted', code: 'engine.aborted' })
    if (track.plan.row.mode === 'gate' && track.role === 'decide') {
      say(this).decide({ kind: 'block', reason: 'the dispatch was aborted' }, hook?.id, 'engine.aborted')
    }
    // At once: what is still to be counted may have to be waited for, and no further hook runs meanwhile.
    this.over = true
    this.conclude()
  }

  listen(signal: AbortSignal): void {
    const onAbort = () => this.latest.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.withAside().unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  conclude(): void {
    if (this.answer === null && !this.track.counts) return this.finish()
    if (needsSecondPass(this)) {
      startSecondPass(this)
      return this.advance()
    }
    if (this.track.counts) return settleStreak(this)
    this.finish()
  }

  finish(): void {
    const { engine, role } = this.track
    this.over = true
    if (this.place !== null) {
      engine.wheel.release(this.place)
      this.place = null
    }
    if (this.answer !== null) this.conceive(this.answer)
    if (this.aside !== null) return finishBeside(this)
    if (engine.sink !== undefined && role === 'decide') record(this)
    if (this.answering !== null) this.answering(this.decision)
  }

  private conceive(answer: Answer): void {
    this.decision = answer.decision(this.track.plan.row, this.original, this.payload)
  }

  /** Hands the answer to whoever awaits it. */
  resolve(decision: Decision): void {
    this.answering?.(decision)
  }

  /** A dispatch of one hook beside this one, on the input as it is now. */
  branch(hook: CompiledHook, role: Exclude<Role, 'decide'>): Dispatch {
    const { engine, plan } = this.track
    const track = { engine, plan, hooks: [hook], role, budgetTicks: hook.ticks, counts: false }
    const child = new Dispatch(track, this.payload, { ...this.envelope, id: this.id, time: this.time })
    this.withAside().children.push(child)
    return child
  }

  executions(): readonly Execution[] {
    return executionsOf(this)
  }

  trace(): Trace {
    return traceOf(this, subjectOf(this.track.plan.row, this.payload), this.aside?.durationMs ?? 0)
  }
}
