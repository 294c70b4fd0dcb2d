import type { Envelope } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import type { DispatchRecord, Execution } from '../core/sink.ts'
import { isThenable } from '../core/thenable.ts'
import { admit } from './admit.ts'
import { ALLOW, type Answer } from './answer.ts'
import { finishBeside, record, shadowsBehind } from './beside.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Engine } from './engine.ts'
import { Moment } from './moment.ts'
import type { Plan } from './plan.ts'
import { executionsOf, type Protocol } from './protocol.ts'
import { needsSecondPass, startSecondPass } from './second-pass.ts'
import { accept, fail, note, say } from './settle.ts'
import { hasStreak, settleStreak } from './streak.ts'

/** decide: its answer counts · observe: nobody waits for it · shadow: it only records what it would have said */
export type Role = 'decide' | 'observe' | 'shadow'

/** What to do when a wait ends. One fixed object per kind of wait: closures are time that can be measured. */
export interface Wait {
  value(dispatch: Dispatch, value: unknown): void
  error(dispatch: Dispatch, thrown: unknown): void
  /** The deadline passed; `spent` when it was the dispatch's own. */
  expire(dispatch: Dispatch, spent: boolean): void
}

let captured: (decision: Decision) => void = () => {}
const capture = (resolve: (decision: Decision) => void): void => {
  captured = resolve
}
const allowed = Promise.resolve(ALLOW)

/**
 * One event going through its hooks: a state machine that runs on synchronously until a hook must be waited for.
 * It is at once the context its hooks see and its own entry in the timer wheel, so that a dispatch is one allocation.
 */
export class Dispatch extends Moment implements DispatchRecord {
  readonly hooks: readonly CompiledHook[]
  readonly role: Role
  /** The payload as hooks have left it so far. */
  payload: unknown
  /** The hook whose turn it is. */
  index = 0
  answer: Answer | null = null
  decision: Decision = ALLOW
  /** A hook ended the chain before its end. */
  stopped = false
  protocol: Protocol | null = null
  wantsTrace = false
  /** Which input each hook passed; kept only for hooks that must vouch for the final one. */
  passed: Map<CompiledHook, unknown> | null = null
  secondPass = false
  /** Hooks that run beside the answer. */
  children: Dispatch[] | null = null
  startedAt = 0
  over = false
  out: Promise<Decision> | null = null
  readonly #budgetTicks: number
  #budgetDue = 0
  #wait: Wait | null = null
  #resolve: ((decision: Decision) => void) | null = null
  #onValue: ((value: unknown) => void) | null = null
  #onError: ((thrown: unknown) => void) | null = null
  #heir: Dispatch | null = null
  #unlisten: (() => void) | null = null

  constructor(
    engine: Engine,
    plan: Plan,
    hooks: readonly CompiledHook[],
    budgetTicks: number,
    payload: unknown,
    envelope: Envelope,
    role: Role,
  ) {
    super(engine, plan, payload, envelope)
    this.hooks = hooks
    this.payload = payload
    this.role = role
    this.#budgetTicks = budgetTicks
  }

  /** Begins, and answers at once where nothing has to be waited for. */
  start(): Promise<Decision> {
    this.advance()
    return this.out ?? (this.decision === ALLOW ? allowed : Promise.resolve(this.decision))
  }

  /** Runs hooks until one must be waited for or the answer is found. */
  advance(): void {
    const { hooks } = this
    while (this.index < hooks.length) {
      const hook = hooks[this.index]
      if (hook === undefined) break
      const went = hook.plain && !this.secondPass ? this.run(hook) : admit(this, hook)
      if (went === 'wait') return
      if (went === 'stop') return this.stop()
      this.index++
    }
    this.conclude()
  }

  /** Calls the handler of a hook. */
  run(hook: CompiledHook): 'next' | 'wait' | 'stop' {
    const { protocol } = this
    if (protocol?.timed) this.startedAt = this.engine.clock.elapsed()
    let value: unknown
    try {
      value = hook.run(this.payload, this)
      if (isThenable(value)) {
        const refused = this.refusePromise(hook, value)
        if (refused !== undefined) return refused
        this.wait(value, hook.ticks, handling)
        return 'wait'
      }
    } catch (thrown) {
      return fail(this, hook, 'error', 'handler.error', thrown)
    }
    if (value === undefined && hook.plain && protocol === null) return 'next'
    return accept(this, hook, value)
  }

  /** A synchronous event cannot wait; whatever becomes of the promise is nobody's business any more. */
  refusePromise(hook: CompiledHook, value: unknown): 'next' | 'stop' | undefined {
    if (!this.plan.row.sync || !isThenable(value)) return undefined
    value.then(undefined, () => {})
    return fail(this, hook, 'invalid', 'handler.must_be_sync', 'returned a promise on a synchronous event')
  }

  /** A dispatch of one hook beside this one, on the input as it is now. */
  branch(hook: CompiledHook, role: Exclude<Role, 'decide'>): Dispatch {
    const child = new Dispatch(this.engine, this.plan, [hook], hook.ticks, this.payload, this.envelope, role)
    child.inherit(this)
    this.children ??= []
    this.children.push(child)
    return child
  }

  /** Goes on after a wait. */
  proceed(went: 'next' | 'wait' | 'stop'): void {
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
    const { wheel } = this.engine
    if (this.#budgetDue === 0) this.#budgetDue = wheel.tick + this.#budgetTicks + 1
    if (this.#resolve === null) this.open()
    this.#wait = wait
    const due = wheel.tick + ticks + 1
    wheel.arm(this, Math.min(due, this.#budgetDue))
    this.#onValue ??= (settled) => this.#settled(settled)
    this.#onError ??= (thrown) => this.#rejected(thrown)
    value.then(this.#onValue, this.#onError)
  }

  /** From now on the answer is a promise. */
  open(): void {
    this.out = new Promise(capture)
    this.#resolve = captured
  }

  #settled(value: unknown): void {
    const wait = this.#wait
    if (wait === null) return this.#late()
    this.#wait = null
    wait.value(this, value)
  }

  #rejected(thrown: unknown): void {
    const wait = this.#wait
    if (wait === null) return this.#late()
    this.#wait = null
    wait.error(this, thrown)
  }

  #late(): void {
    const { engine, event } = this
    const hook = this.hooks[this.index]?.id ?? ''
    engine.log('engine.late', { hook, event })
    engine.sink?.late?.({ hook, decision: 'late', code: 'engine.late' }, event)
  }

  expire(): void {
    const wait = this.#wait
    if (wait === null) return
    const spent = this.engine.wheel.tick >= this.#budgetDue
    const heir = this.#bequeath()
    this.giveUp()
    wait.expire(heir, spent)
  }

  /** The caller no longer wants an answer: a gate closes, everything else keeps what it has. */
  abort(): void {
    if (this.#heir !== null) return this.#heir.abort()
    if (this.over) return
    this.#wait = null
    this.giveUp()
    const hook = this.hooks[this.index]
    if (hook !== undefined) note(this, hook, { decision: 'aborted', code: 'engine.aborted' })
    if (this.plan.row.mode === 'gate' && this.role === 'decide') {
      say(this).decide(
        { kind: 'block', reason: 'the dispatch was aborted' },
        hook?.id ?? '',
        'engine.aborted',
      )
    }
    this.finish()
  }

  listen(signal: AbortSignal): void {
    const onAbort = () => this.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  conclude(): void {
    if (needsSecondPass(this)) {
      startSecondPass(this)
      return this.advance()
    }
    if (hasStreak(this)) return settleStreak(this)
    this.finish()
  }

  finish(): void {
    this.over = true
    this.engine.wheel.disarm(this)
    this.#unlisten?.()
    if (this.answer !== null) this.decision = this.answer.decision(this.plan.row, this.original, this.payload)
    if (this.children !== null || this.wantsTrace) return finishBeside(this)
    if (this.engine.sink !== undefined && this.role === 'decide') record(this)
    this.#resolve?.(this.decision)
  }

  /** Where this dispatch went on after a deadline passed. */
  get latest(): Dispatch {
    return this.#heir?.latest ?? this
  }

  /** Hands the answer to whoever awaits it. */
  resolve(decision: Decision): void {
    this.#resolve?.(decision)
  }

  executions(): readonly Execution[] {
    return executionsOf(this)
  }

  /** A successor with all that is known so far: late answers find this one done, and its signal aborted. */
  #bequeath(): Dispatch {
    const { engine, plan, hooks, role, envelope } = this
    const heir = new Dispatch(engine, plan, hooks, this.#budgetTicks, this.original, envelope, role)
    heir.inherit(this)
    heir.payload = this.payload
    heir.index = this.index
    heir.answer = this.answer
    heir.protocol = this.protocol
    heir.wantsTrace = this.wantsTrace
    heir.passed = this.passed
    heir.secondPass = this.secondPass
    heir.children = this.children
    heir.startedAt = this.startedAt
    heir.out = this.out
    heir.#budgetDue = this.#budgetDue
    heir.#resolve = this.#resolve
    heir.#unlisten = this.#unlisten
    this.#heir = heir
    this.#wait = null
    this.over = true
    return heir
  }
}

/** Waiting for a handler. */
const handling: Wait = {
  value(dispatch, value) {
    const hook = dispatch.hooks[dispatch.index]
    if (hook === undefined) return
    const silent =
      value === undefined && hook.plain && dispatch.protocol === null && hook.health.failures === 0
    dispatch.proceed(silent ? 'next' : accept(dispatch, hook, value))
  },
  error(dispatch, thrown) {
    const hook = dispatch.hooks[dispatch.index]
    if (hook !== undefined) dispatch.proceed(fail(dispatch, hook, 'error', 'handler.error', thrown))
  },
  expire(dispatch, spent) {
    const hook = dispatch.hooks[dispatch.index]
    if (hook === undefined) return
    const went = fail(dispatch, hook, 'timeout', 'handler.timeout', undefined)
    if (went === 'stop' || !spent) return dispatch.proceed(went)
    // Nothing is left for the hooks behind this one, so `on_timeout: allow` cannot open the gate.
    if (dispatch.plan.row.mode === 'gate' && dispatch.role === 'decide') {
      const reason = 'the hooks of this event used up their time together'
      say(dispatch).decide({ kind: 'block', reason }, hook.id, 'engine.budget')
    }
    dispatch.stop()
  },
}
