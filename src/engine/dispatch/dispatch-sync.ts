import type { Envelope, HookContext } from '../core/context.ts'
import type { Decision } from '../core/decision.ts'
import { HookError } from '../core/errors/error.ts'
import { freezeDeep } from '../core/values/freeze.ts'
import { isThenable } from '../core/values/thenable.ts'
import { checkDepth } from '../guard/depth.ts'
import { applyFailure, applyResult } from './apply-result.ts'
import { ALLOW } from './decision-builder.ts'
import { Dispatch } from './dispatch.ts'
import { copyEnvelope, inputError, NO_ENVELOPE, readPayload, skipAll } from './dispatch-event.ts'
import type { Engine } from './engine.ts'
import type { EventHooks, ResolvedHooks } from './event-hooks.ts'

/**
 * Sends a synchronous event through its hooks. While all hooks return nothing, it allocates nothing: hosts call this
 * for every line of a transcript.
 */
export function dispatchSync(eventHooks: EventHooks, payload: unknown, given: Envelope): Decision {
  if (!eventHooks.row.sync) {
    const message = `${eventHooks.event} may wait, so it cannot be dispatched synchronously`
    throw new HookError('engine.not_sync', message)
  }
  const envelope = given === NO_ENVELOPE ? given : copySync(eventHooks, given)
  const resolved = resolveSync(eventHooks, payload)
  const { hooks, engine } = resolved
  if (hooks.length === 0) return ALLOW
  const pass = checkDepth(envelope.depth ?? 0, engine.maxDepth)
  if (!pass.pass || !resolved.allPlain || engine.sink !== undefined) {
    const dispatch = new Dispatch(resolved, payload, envelope)
    if (pass.pass) dispatch.start()
    else skipAll(dispatch, 'skipped', pass)
    return dispatch.decision
  }
  const context = enterContext(engine, eventHooks, payload, envelope)
  let index = 0
  try {
    for (; index < hooks.length; index++) {
      const hook = hooks[index]
      if (hook === undefined) break
      const value = hook.run(payload, context)
      if (value !== undefined || hook.health.failures > 0)
        return continueWithValue(dispatchFrom(resolved, payload, envelope, index), value)
    }
    return ALLOW
  } catch (thrown) {
    return continueWithError(dispatchFrom(resolved, payload, envelope, index), thrown)
  } finally {
    nesting--
  }
}

// Two functions rather than one with a closure: without an envelope a synchronous dispatch allocates nothing.
function resolveSync(eventHooks: EventHooks, payload: unknown): ResolvedHooks {
  try {
    return readPayload(eventHooks, payload)
  } catch (thrown) {
    throw inputError(eventHooks, thrown)
  }
}

function copySync(eventHooks: EventHooks, envelope: Envelope): Envelope {
  try {
    return copyEnvelope(eventHooks, envelope)
  } catch (thrown) {
    throw inputError(eventHooks, thrown)
  }
}

/** A full dispatch that starts at the hook with something to say. */
function dispatchFrom(
  resolved: ResolvedHooks,
  payload: unknown,
  envelope: Envelope,
  index: number,
): Dispatch {
  const dispatch = new Dispatch(resolved, payload, envelope)
  dispatch.index = index
  return dispatch
}

function continueWithValue(dispatch: Dispatch, value: unknown): Decision {
  const { hook } = dispatch
  if (hook === undefined) return ALLOW
  const outcome = isThenable(value) ? dispatch.refusePromise(hook, value) : applyResult(dispatch, hook, value)
  dispatch.proceed(outcome)
  return dispatch.decision
}

function continueWithError(dispatch: Dispatch, thrown: unknown): Decision {
  const { hook } = dispatch
  if (hook !== undefined) dispatch.proceed(applyFailure(dispatch, hook, 'error', 'handler.error', thrown))
  return dispatch.decision
}

/** The context of a synchronous dispatch. It is reused for the next one, so a hook must not keep it. */
class SyncContext implements HookContext {
  event = ''
  original: unknown = undefined
  givenEnvelope: Envelope = NO_ENVELOPE
  engine: Engine | undefined
  madeId: string | undefined
  madeTime: number | undefined

  get id(): string {
    this.madeId ??= this.givenEnvelope.id ?? this.engine?.newId() ?? ''
    return this.madeId
  }

  get time(): number {
    this.madeTime ??= this.givenEnvelope.time ?? this.engine?.clock.now() ?? 0
    return this.madeTime
  }

  get depth(): number {
    return this.givenEnvelope.depth ?? 0
  }

  get envelope(): Envelope {
    freezeDeep(this.givenEnvelope)
    return this.givenEnvelope
  }

  /** No hook can be waited for, so there is no deadline. */
  get timeoutMs(): number {
    return 0
  }

  get signal(): AbortSignal {
    return neverAborted
  }

  /** There is no record to add facts to. */
  report(): void {}
}

const neverAborted = new AbortController().signal
// A hook may dispatch synchronously itself, so there is one context per level of nesting.
const contexts: SyncContext[] = []
let nesting = 0

function enterContext(
  engine: Engine,
  { event }: EventHooks,
  payload: unknown,
  envelope: Envelope,
): SyncContext {
  let context = contexts[nesting]
  if (context === undefined) {
    context = new SyncContext()
    contexts[nesting] = context
  }
  nesting++
  context.engine = engine
  context.event = event
  context.original = payload
  context.givenEnvelope = envelope
  context.madeId = undefined
  context.madeTime = undefined
  return context
}
