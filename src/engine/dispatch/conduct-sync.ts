import type { Envelope, HookContext } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import { HookError } from '../core/error.ts'
import { isThenable } from '../core/thenable.ts'
import { depth } from '../guard/depth.ts'
import { ALLOW } from './answer.ts'
import { NO_ENVELOPE, receive, skipAll, unreadable } from './conduct.ts'
import { Dispatch } from './dispatch.ts'
import type { Engine } from './engine.ts'
import type { Chain, Plan } from './plan.ts'
import { accept, fail } from './settle.ts'

/**
 * Sends a synchronous event through its hooks. While no hook has anything to say nothing is allocated: hosts call
 * this for every line of a transcript.
 */
export function conductSync(engine: Engine, plan: Plan, payload: unknown, envelope: Envelope): Decision {
  if (!plan.row.sync) {
    throw new HookError('engine.not_sync', `${plan.event} may wait, so it cannot be dispatched synchronously`)
  }
  const chain = receiveSync(plan, payload, envelope)
  const { hooks } = chain.deciders
  if (hooks.length === 0) return ALLOW
  const pass = depth(envelope.depth ?? 0, engine.maxDepth)
  if (!pass.pass || !chain.allPlain || engine.sink !== undefined) {
    const dispatch = begin(chain, payload, envelope, 0)
    if (pass.pass) dispatch.start()
    else skipAll(dispatch, chain, 'skipped', pass)
    return dispatch.decision
  }
  const context = enter(engine, plan, payload, envelope)
  let index = 0
  try {
    for (; index < hooks.length; index++) {
      const hook = hooks[index]
      if (hook === undefined) break
      const value = hook.run(payload, context)
      if (value !== undefined || hook.health.failures > 0)
        return answered(begin(chain, payload, envelope, index), value)
    }
    return ALLOW
  } catch (thrown) {
    return threw(begin(chain, payload, envelope, index), thrown)
  } finally {
    height--
  }
}

function receiveSync(plan: Plan, payload: unknown, envelope: Envelope): Chain {
  try {
    return receive(plan, payload, envelope)
  } catch (thrown) {
    throw unreadable(plan, thrown)
  }
}

function begin(chain: Chain, payload: unknown, envelope: Envelope, index: number): Dispatch {
  const dispatch = new Dispatch(chain.deciders, payload, envelope)
  dispatch.index = index
  return dispatch
}

function answered(dispatch: Dispatch, value: unknown): Decision {
  const { hook } = dispatch
  if (hook === undefined) return ALLOW
  dispatch.proceed(isThenable(value) ? dispatch.refusePromise(hook, value) : accept(dispatch, hook, value))
  return dispatch.decision
}

function threw(dispatch: Dispatch, thrown: unknown): Decision {
  const { hook } = dispatch
  if (hook !== undefined) dispatch.proceed(fail(dispatch, hook, 'error', 'handler.error', thrown))
  return dispatch.decision
}

/** The context of a synchronous dispatch, used again for the next one; a hook must not keep it. */
class SyncContext implements HookContext {
  event = ''
  original: unknown = undefined
  envelope: Envelope = NO_ENVELOPE
  engine: Engine | undefined
  madeId: string | undefined
  madeTime: number | undefined

  get id(): string {
    this.madeId ??= this.envelope.id ?? this.engine?.newId() ?? ''
    return this.madeId
  }

  get time(): number {
    this.madeTime ??= this.envelope.time ?? this.engine?.clock.now() ?? 0
    return this.madeTime
  }

  get depth(): number {
    return this.envelope.depth ?? 0
  }

  /** Nothing can be waited for, so nothing can take too long. */
  get timeoutMs(): number {
    return 0
  }

  get signal(): AbortSignal {
    return never
  }

  /** There is no record to add to: a hook that says nothing leaves none. */
  report(): void {}
}

const never = new AbortController().signal
// A hook may dispatch synchronously itself, so there is one context per level.
const contexts: SyncContext[] = []
let height = 0

function enter(engine: Engine, plan: Plan, payload: unknown, envelope: Envelope): SyncContext {
  let context = contexts[height]
  if (context === undefined) {
    context = new SyncContext()
    contexts[height] = context
  }
  height++
  context.engine = engine
  context.event = plan.event
  context.original = payload
  context.envelope = envelope
  context.madeId = undefined
  context.madeTime = undefined
  return context
}
