import type { Envelope } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import type { DispatchRecord, Execution } from '../core/sink.ts'
import { isThenable } from '../core/thenable.ts'
import { admit } from './admit.ts'
import { ALLOW, type Answer } from './answer.ts'
import { finishBeside, record, shadowsBehind } from './beside.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { handling } from './handling.ts'
import { Moment } from './moment.ts'
import { executionsOf } from './protocol.ts'
import { needsSecondPass, startSecondPass } from './second-pass.ts'
import { accept, fail, note, say } from './settle.ts'
import { settleStreak } from './streak.ts'
import type { Role, Track } from './track.ts'

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
// A promise can carry a `then` of its own; this is the real one.
const { then } = Promise.prototype

/**
 * One event going through its hooks: a state machine that runs on synchronously until a hook must be waited for.
 * It is at once the context its hooks see and its own entry in the timer wheel, so that a dispatch is one allocation.
 */
export class Dispatch extends Moment implements DispatchRecord {
  /** The hook whose turn it is. */
  declare index: number
  declare answer: Answer | null
  declare decision: Decision
  /** A hook ended the chain before its end. */
  declare stopped: boolean
  declare over: boolean
  declare out: Promise<Decision> | null
  declare private budgetDue: number
  declare private waiting: Wait | null
  declare private answering: ((decision: Decision) => void) | null
  declare private onValue: ((value: unknown) => void) | null
  declare private onError: ((thrown: unknown) => void) | null

  constructor(track: Track, payload: unknown, envelope: Envelope) {
    super()
    this.track = track
    this.payload = payload
    this.envelope = envelope
    this.aside = null
    this.due = 0
    this.armedAt = 0
    this.place = -1
    this.index = 0
    this.answer = null
    this.decision = ALLOW
    this.stopped = false
    this.over = false
    this.out = null
    this.budgetDue = 0
    this.waiting = null
    this.answering = null
    this.onValue = null
    this.onError = null
  }

  get hook(): CompiledHook | undefined {
    return this.track.hooks[this.index]
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
      const went = hook.plain && !this.aside?.secondPass ? this.run(hook) : admit(this, hook)
      if (went === 'wait') return
      if (went === 'stop') return this.stop()
      this.index++
    }
    this.conclude()
  }

  /** Calls the handler of a hook. */
  run(hook: CompiledHook): Went {
    const { aside } = this
    if (aside?.protocol?.timed) aside.startedAt = this.track.engine.clock.elapsed()
    let value: unknown
    try {
      value = hook.run(this.payload, this)
      if (value !== undefined && isThenable(value)) {
        if (this.track.plan.row.sync) return this.refusePromise(hook, value)
        this.wait(value, hook.ticks, handling)
        return 'wait'
      }
    } catch (thrown) {
      return fail(this, hook, 'error', 'handler.error', thrown)
    }
    return this.take(hook, value)
  }

  /** A plain hook that says nothing leaves no trace unless somebody asked for one. */
  take(hook: CompiledHook, value: unknown): Went {
    if (value === undefined && hook.plain && this.aside === null && hook.health.failures === 0) return 'next'
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
    if (this.budgetDue === 0) this.budgetDue = wheel.tick + budgetTicks + 1
    if (this.answering === null) this.open()
    this.waiting = wait
    wheel.arm(this, Math.min(wheel.tick + ticks + 1, this.budgetDue))
    this.onValue ??= (settled) => this.settled(settled)
    this.onError ??= (thrown) => this.rejected(thrown)
    // Only our own kind of promise keeps its word to call back once, later, and with one of the two.
    const promise = value instanceof Promise ? value : Promise.resolve(value)
    then.call(promise, this.onValue, this.onError)
  }

  /** From now on the answer is a promise. */
  open(): void {
    this.out = new Promise(capture)
    this.answering = captured
  }

  private settled(value: unknown): void {
    const wait = this.waiting
    if (wait === null) return this.late()
    this.waiting = null
    wait.value(this, value)
  }

  private rejected(thrown: unknown): void {
    const wait = this.waiting
    if (wait === null) return this.late()
    this.waiting = null
    wait.error(this, thrown)
  }

  private late(): void {
    const { engine } = this.track
    const execution = { hook: this.hook?.id ?? '', decision: 'late', code: 'engine.late' } as const
    engine.log('engine.late', { hook: execution.hook, event: this.event })
    engine.sink?.late?.(execution, this.event)
  }

  expire(): void {
    const wait = this.waiting
    if (wait === null) return
    const spent = this.track.engine.wheel.tick >= this.budgetDue
    const heir = this.bequeath()
    this.giveUp()
    wait.expire(heir, spent)
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
    this.waiting = null
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
    this.waiting = null
    this.giveUp()
    if (hook !== undefined) note(this, hook, { decision: 'aborted', code: 'engine.aborted' })
    if (track.plan.row.mode === 'gate' && track.role === 'decide') {
      say(this).decide(
        { kind: 'block', reason: 'the dispatch was aborted' },
        hook?.id ?? '',
        'engine.aborted',
      )
    }
    this.finish()
  }

  listen(signal: AbortSignal): void {
    const onAbort = () => this.latest.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.withAside().unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  private conclude(): void {
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
    if (this.place >= 0) engine.wheel.disarm(this)
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
}
