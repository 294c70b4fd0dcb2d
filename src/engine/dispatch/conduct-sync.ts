import type { Envelope, HookContext } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import { HookError } from '../core/error.ts'
import { isThenable } from '../core/thenable.ts'
import { ALLOW } from './answer.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { refuse } from './conduct.ts'
import { Dispatch } from './dispatch.ts'
import type { Engine } from './engine.ts'
import type { Chain, Plan } from './plan.ts'
import { accept, fail } from './settle.ts'
import { subjectOf } from './subject.ts'

/**
 * Sends a synchronous event through its hooks. While no hook has anything to say nothing is allocated: hosts call
 * this for every line of a transcript.
 */
export function conductSync(engine: Engine, plan: Plan, payload: unknown, envelope: Envelope): Decision {
  if (!plan.row.sync) {
    throw new HookError('engine.not_sync', `${plan.event} may wait, so it cannot be dispatched synchronously`)
  }
  const refusal = refuse(plan, payload, envelope)
  if (refusal !== undefined) throw refusal
  const chain = plan.chainFor(subjectOf(plan.row, payload))
  const { hooks } = chain.deciders
  if (hooks.length === 0) return ALLOW
  if (!chain.allPlain || engine.sink !== undefined || (envelope.depth ?? 0) > engine.maxDepth) {
    const dispatch = begin(chain, payload, envelope, 0)
    dispatch.start()
    return dispatch.decision
  }
  const context = SyncContext.enter(engine, plan, payload, envelope)
  try {
    for (let index = 0; index < hooks.length; index++) {
      const hook = hooks[index]
      if (hook === undefined) break
      let value: unknown
      try {
        value = hook.run(payload, context)
      } catch (thrown) {
        const dispatch = begin(chain, payload, envelope, index)
        dispatch.proceed(fail(dispatch, hook, 'error', 'handler.error', thrown))
        return dispatch.decision
      }
      if (value !== undefined) return resume(begin(chain, payload, envelope, index), hook, value)
    }
    return ALLOW
  } finally {
    SyncContext.leave()
  }
}

function begin(chain: Chain, payload: unknown, envelope: Envelope, index: number): Dispatch {
  const dispatch = new Dispatch(chain.deciders, payload, envelope)
  dispatch.index = index
  return dispatch
}

function resume(dispatch: Dispatch, hook: CompiledHook, value: unknown): Decision {
  dispatch.proceed(isThenable(value) ? dispatch.refusePromise(hook, value) : accept(dispatch, hook, value))
  return dispatch.decision
}

/** The context of a synchronous dispatch, used again for the next one; a hook must not keep it. */
class SyncContext implements HookContext {
  static readonly #stack: SyncContext[] = []
  static #height = 0
  static readonly #never = new AbortController().signal

  event = ''
  original: unknown = undefined
  envelope: Envelope = {}
  #engine: Engine | undefined
  #id: string | undefined
  #time: number | undefined

  static enter(engine: Engine, plan: Plan, payload: unknown, envelope: Envelope): SyncContext {
    // A hook may dispatch synchronously itself, so there is one context per level.
    let context = SyncContext.#stack[SyncContext.#height]
    if (context === undefined) {
      context = new SyncContext()
      SyncContext.#stack[SyncContext.#height] = context
    }
    SyncContext.#height++
    context.#engine = engine
    context.event = plan.event
    context.original = payload
    context.envelope = envelope
    context.#id = undefined
    context.#time = undefined
    return context
  }

  static leave(): void {
    SyncContext.#height--
  }

  get id(): string {
    this.#id ??= this.envelope.id ?? this.#engine?.newId() ?? ''
    return this.#id
  }

  get time(): number {
    this.#time ??= this.envelope.time ?? this.#engine?.clock.now() ?? 0
    return this.#time
  }

  get depth(): number {
    return this.envelope.depth ?? 0
  }

  get signal(): AbortSignal {
    return SyncContext.#never
  }
}
