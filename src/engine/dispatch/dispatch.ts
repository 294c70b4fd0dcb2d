import type { Envelope } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import type { DispatchRecord, Execution, TraceOptions } from '../core/records/sink.ts'
import type { Trace } from '../core/records/trace.ts'
import { abandon, isThenable } from '../core/values/thenable.ts'
import { applyFailure, applyResult } from './apply-result.ts'
import { settleBlockStreak } from './block-streak.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { DeadlineSlot, DeadlineWaiter } from './deadline-timer.ts'
import { ALLOW, builderOf, type DecisionBuilder } from './decision-builder.ts'
import { finishWithExtras, startRemainingShadows } from './detached.ts'
import { DispatchState } from './dispatch-state.ts'
import { type DispatchRole, detachedHook, type ResolvedHooks } from './event-hooks.ts'
import { executionsOf, recordExecution, recordLate, traceOf, writeRecord } from './execution-log.ts'
import { matchAndGuard } from './match-and-guard.ts'
import { needsSecondPass, startSecondPass } from './rewrite-input.ts'

/** How to continue when a promise settles. One fixed object per kind of wait: closures cost measurable time. */
export interface PendingStep {
  onValue(dispatch: Dispatch, value: unknown): void
  onError(dispatch: Dispatch, thrown: unknown): void
  /** The deadline passed; `budgetSpent` if it was that of the whole dispatch. */
  onExpire(dispatch: Dispatch, budgetSpent: boolean): void
}

/** How a step ended: continue with the next hook, wait for a promise, or end the chain. */
export type StepOutcome = 'next' | 'wait' | 'stop'

let capturedResolve: (decision: Decision) => void = () => {}
const captureResolve = (resolve: (decision: Decision) => void): void => {
  capturedResolve = resolve
}
const allowed = Promise.resolve(ALLOW)
const { then } = Promise.prototype

/**
 * One event on its way through its hooks: a state machine that runs synchronously until a hook returns a promise. It
 * is also the context that its hooks see and what the deadline timer calls, so that a dispatch is one allocation.
 */
export class Dispatch extends DispatchState implements DispatchRecord, DeadlineWaiter {
  /** The position of the hook that runs. */
  declare index: number
  declare builder: DecisionBuilder | null
  declare decision: Decision
  /** A hook ended the chain early. */
  declare stopped: boolean
  declare over: boolean
  /** The promise of the decision, once a hook had to be waited for. */
  declare out: Promise<Decision> | null
  declare private resolveOut: ((decision: Decision) => void) | null
  declare private slot: DeadlineSlot | null
  declare private pending: PendingStep | null
  declare private budgetDue: number

  constructor(resolved: ResolvedHooks, payload: unknown, envelope: Envelope) {
    super()
    this.resolved = resolved
    this.payload = payload
    this.givenEnvelope = envelope
    this.extras = null
    this.index = 0
    this.builder = null
    this.decision = ALLOW
    this.stopped = false
    this.over = false
    this.out = null
    this.resolveOut = null
    this.slot = null
    this.pending = null
    this.budgetDue = 0
  }

  get hook(): CompiledHook | undefined {
    return this.resolved.hooks[this.index]
  }

  get timeoutMs(): number {
    return this.hook?.timeoutMs ?? 0
  }

  /** Runs the hooks; the promise is already resolved if no hook had to be waited for. */
  start(): Promise<Decision> {
    this.advance()
    return this.out ?? (this.decision === ALLOW ? allowed : Promise.resolve(this.decision))
  }

  /** Runs hooks until one must be waited for or the decision is known. */
  advance(): void {
    const { hooks } = this.resolved
    while (this.index < hooks.length) {
      const hook = hooks[this.index]
      if (hook === undefined) break
      const outcome = hook.plain && this.extras === null ? this.run(hook) : matchAndGuard(this, hook)
      if (outcome === 'wait') return
      if (outcome === 'stop') return this.stop()
      this.index++
    }
    this.conclude()
  }

  /** Calls the handler of a hook. */
  run(hook: CompiledHook): StepOutcome {
    const { extras } = this
    if (extras?.log?.timed) extras.startedAt = this.resolved.engine.clock.elapsed()
    let value: unknown
    try {
      value = hook.run(this.payload, this)
      if (this.over) {
        // The hook itself aborted the dispatch, so its own answer no longer counts.
        if (isThenable(value)) abandon(value)
        return 'wait'
      }
      if (value === undefined) return this.accept(hook, value)
      if (isThenable(value)) return this.suspend(hook, value)
    } catch (thrown) {
      return this.over ? 'wait' : applyFailure(this, hook, 'error', 'handler.error', thrown)
    }
    return applyResult(this, hook, value)
  }

  private suspend(hook: CompiledHook, value: PromiseLike<unknown>): StepOutcome {
    if (this.resolved.eventHooks.row.sync) return this.refusePromise(hook, value)
    this.wait(value, hook.ticks, awaitingHandler)
    return 'wait'
  }

  /** A plain hook that returns nothing leaves no entry unless durations are measured. */
  accept(hook: CompiledHook, value: unknown): StepOutcome {
    if (value === undefined && this.extras === null && hook.plain && hook.health.failures === 0) return 'next'
    return applyResult(this, hook, value)
  }

  /** A synchronous event cannot wait; a later rejection of the promise is swallowed. */
  refusePromise(hook: CompiledHook, value: PromiseLike<unknown>): StepOutcome {
    abandon(value)
    const reason = 'returned a promise on a synchronous event'
    return applyFailure(this, hook, 'invalid', 'handler.must_be_sync', reason)
  }

  /** Continues after a wait. */
  proceed(outcome: StepOutcome): void {
    if (outcome === 'wait') return
    if (outcome === 'stop') return this.stop()
    this.index++
    this.advance()
  }

  stop(): void {
    this.stopped = true
    if (this.builder?.kind === 'block') startRemainingShadows(this)
    this.conclude()
  }

  /** Waits for a promise until the given deadline, or until the budget of the dispatch ends if that is earlier. */
  wait(value: PromiseLike<unknown>, ticks: number, step: PendingStep): void {
    const { engine, budgetTicks } = this.resolved
    const { timer } = engine
    if (this.resolveOut === null) this.openPromise()
    if (this.budgetDue === 0) this.budgetDue = timer.tick + budgetTicks + 1
    this.slot ??= timer.acquire(this)
    this.pending = step
    timer.arm(this.slot, Math.min(timer.tick + ticks + 1, this.budgetDue))
    // Only a real promise calls back once, later, and with one of the two. Any other thenable could answer for a
    // dispatch that reuses the slot after this one.
    const real = value.then === then ? value : new Promise((resolve, reject) => value.then(resolve, reject))
    real.then(this.slot.onValue, this.slot.onError)
  }

  /** From now on the caller gets a promise. */
  openPromise(): void {
    this.out = new Promise(captureResolve)
    this.resolveOut = capturedResolve
  }

  onSettled(value: unknown): void {
    const step = this.pending
    this.pending = null
    if (step !== awaitingHandler) return step?.onValue(this, value)
    const { hooks } = this.resolved
    const hook = hooks[this.index]
    if (hook === undefined) return
    const outcome = this.accept(hook, value)
    if (outcome === 'stop') return this.stop()
    if (++this.index < hooks.length) return this.advance()
    this.conclude()
  }

  onRejected(thrown: unknown): void {
    const step = this.pending
    this.pending = null
    step?.onError(this, thrown)
  }

  onStalled(ticks: number): void {
    this.budgetDue += ticks
  }

  onExpired(): void {
    const step = this.pending
    const budgetSpent = this.resolved.engine.timer.tick >= this.budgetDue
    const successor = this.handOver()
    this.abortSignal()
    step?.onExpire(successor, budgetSpent)
  }

  /**
   * Leaves the slot to the promise that is still pending. A late answer is only recorded. A handler that has its signal
   * and then fails or returns nothing has ended because of the abort, which is no late answer.
   */
  private detachSlot(): void {
    const { pending, slot, hook } = this
    this.pending = null
    if (slot === null) return
    this.slot = null
    this.resolved.engine.timer.detach(slot, (hasAnswer) => {
      if (hook !== undefined && pending === awaitingHandler && (hasAnswer || !this.hasSignal))
        recordLate(this, hook.id)
    })
  }

  /** Creates the dispatch that continues. Late answers reach this one, which is over, and its signal is aborted. */
  private handOver(): Dispatch {
    const successor = new Dispatch(this.resolved, this.payload, this.givenEnvelope)
    successor.extras = this.withExtras()
    successor.extras.successor = successor
    successor.index = this.index
    successor.builder = this.builder
    successor.out = this.out
    successor.budgetDue = this.budgetDue
    successor.resolveOut = this.resolveOut
    this.detachSlot()
    this.over = true
    return successor
  }

  /** This dispatch or its last successor. */
  get latest(): Dispatch {
    return this.extras?.successor ?? this
  }

  /** The caller no longer wants an answer: a gate blocks, every other event keeps what it has. */
  abort(): void {
    const { hook, resolved } = this
    if (this.over) return
    this.detachSlot()
    this.abortSignal()
    if (hook !== undefined) recordExecution(this, hook, { decision: 'aborted', code: 'engine.aborted' })
    if (resolved.eventHooks.row.mode === 'gate' && resolved.role === 'decide') {
      const result = { kind: 'block', reason: 'the dispatch was aborted' } as const
      builderOf(this).decide(result, hook, 'engine.aborted')
    }
    // Set before the block is counted, which may have to be waited for: no further hook runs meanwhile.
    this.over = true
    this.conclude()
  }

  abortWith(signal: AbortSignal): void {
    const onAbort = () => this.latest.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.withExtras().removeAbortListener = () => signal.removeEventListener('abort', onAbort)
  }

  conclude(): void {
    if (this.builder === null && !this.resolved.countsBlocks) return this.finish()
    if (needsSecondPass(this)) {
      startSecondPass(this)
      return this.advance()
    }
    if (this.resolved.countsBlocks) return settleBlockStreak(this)
    this.finish()
  }

  finish(): void {
    const { engine, role, eventHooks } = this.resolved
    this.over = true
    if (this.slot !== null) {
      engine.timer.release(this.slot)
      this.slot = null
    }
    if (this.builder !== null) this.decision = this.builder.build(eventHooks.row, this.original, this.payload)
    if (this.extras !== null) return finishWithExtras(this)
    if (engine.sink !== undefined && role === 'decide') writeRecord(this)
    if (this.resolveOut !== null) this.resolveOut(this.decision)
  }

  /** Resolves the promise that the caller awaits. */
  resolve(decision: Decision): void {
    this.resolveOut?.(decision)
  }

  /** A dispatch of one hook on the input as it is now, detached from this one. */
  createDetached(hook: CompiledHook, role: Exclude<DispatchRole, 'decide'>): Dispatch {
    const envelope = { ...this.givenEnvelope, id: this.id, time: this.time }
    return new Dispatch(detachedHook(this.resolved, hook, role), this.payload, envelope)
  }

  executions(): readonly Execution[] {
    return executionsOf(this)
  }

  trace(options?: TraceOptions): Trace {
    return traceOf(this, options)
  }
}

/** Waiting for a handler. */
const awaitingHandler: PendingStep = {
  onValue(dispatch, value) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(dispatch.accept(hook, value))
  },
  onError(dispatch, thrown) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(applyFailure(dispatch, hook, 'error', 'handler.error', thrown))
  },
  onExpire(dispatch, budgetSpent) {
    const { hook, resolved } = dispatch
    if (hook === undefined) return
    const outcome = applyFailure(dispatch, hook, 'timeout', hook.timeoutCode, undefined)
    if (outcome === 'stop' || !budgetSpent) return dispatch.proceed(outcome)
    // No time is left for the hooks behind this one, so `on_timeout: allow` must not open the gate.
    if (resolved.eventHooks.row.mode === 'gate' && resolved.role === 'decide') {
      const reason = 'the hooks of this event used up their time together'
      builderOf(dispatch).decide({ kind: 'block', reason }, hook, 'engine.budget')
    }
    dispatch.stop()
  },
}
