import type { Envelope } from '../core/context.ts'
import type { Decision, HookId } from '../core/decision.ts'
import { errorText, HookError, isHookError } from '../core/errors/error.ts'
import type { Skip } from '../core/guard-state.ts'
import type { Sink } from '../core/records/sink.ts'
import { isRecord, type Problem } from '../core/schema/check.ts'
import { freezeDeep } from '../core/values/freeze.ts'
import { checkDepth } from '../guard/depth.ts'
import type { ReadEffects } from '../match/effects/call-effects.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { ALLOW, builderOf } from './decision-builder.ts'
import { startDetached } from './detached.ts'
import { Dispatch } from './dispatch.ts'
import type { EventHooks, ResolvedHooks } from './event-hooks.ts'
import { ExecutionLog, recordExecution } from './execution-log.ts'

/** Options of one dispatch. */
export interface DispatchOptions {
  /** Aborts the dispatch: a gate blocks, every other event keeps what it has. */
  readonly signal?: AbortSignal
  /** Adds the full trace to the decision, and waits for observers and shadow hooks. */
  readonly trace?: boolean
  /** `skip` runs no observers. The caller runs them, for example from a queue that survives a crash. */
  readonly observers?: 'run' | 'skip'
  /** Runs this hook only. */
  readonly only?: HookId
  /** Receives the record of this dispatch in place of the sink of `createHooks`. */
  readonly sink?: Sink
  /** What has been read about this call, so that its shell lines are not analysed again. */
  readonly effects?: ReadEffects
}

export const NO_ENVELOPE: Envelope = Object.freeze({})

const allowed = Promise.resolve(ALLOW)
const ABORTED: Skip = {
  pass: false,
  code: 'engine.aborted',
  skip: 'the dispatch was aborted before it began',
}

/** Sends an event through its hooks. Rejects with a coded error for input that is not an event. */
export function dispatchEvent(
  eventHooks: EventHooks,
  payload: unknown,
  envelope: Envelope,
  options: DispatchOptions | undefined,
): Promise<Decision> {
  let resolved: ResolvedHooks
  let own: Envelope
  try {
    resolved = readPayload(eventHooks, payload)
    own = envelope === NO_ENVELOPE ? envelope : copyEnvelope(eventHooks, envelope)
  } catch (thrown) {
    return Promise.reject(inputError(eventHooks, thrown))
  }
  if (options !== undefined || !resolved.simple || (own.depth ?? 0) > resolved.engine.maxDepth) {
    return dispatchWithOptions(resolved, payload, own, options)
  }
  if (resolved.silent) return allowed
  return new Dispatch(resolved, payload, own).start()
}

/** Checks and freezes the payload, and resolves the hooks. Errors go through `inputError`. */
export function readPayload(eventHooks: EventHooks, payload: unknown): ResolvedHooks {
  const problem = eventHooks.row.payload(payload)
  if (problem !== undefined) throw shapeError(eventHooks, problem)
  freezeDeep(payload)
  return eventHooks.resolve(payload)
}

/**
 * Checks the envelope and returns a copy, which the first hook that looks at it gets frozen: freezing costs as much
 * as a hook, and copying a tenth of it.
 */
export function copyEnvelope(eventHooks: EventHooks, envelope: Envelope): Envelope {
  if (!isRecord(envelope)) throw shapeError(eventHooks, { path: 'the envelope', expected: 'an object' })
  const copy = { ...envelope }
  const { depth, raw } = copy
  if (depth !== undefined && !(Number.isInteger(depth) && Number(depth) >= 0)) {
    throw shapeError(eventHooks, { path: 'depth', expected: 'a whole number' })
  }
  if (raw !== undefined) freezeDeep(raw)
  return copy
}

function shapeError({ event }: EventHooks, { path, expected }: Problem): HookError {
  return new HookError('input.schema', `${event}: ${path || 'the payload'} must be ${expected}`, { at: path })
}

/** The coded error of input that is not an event. */
export function inputError({ event }: EventHooks, thrown: unknown): HookError {
  if (isHookError(thrown)) return thrown
  return new HookError('input.unreadable', `${event}: the payload cannot be read: ${errorText(thrown)}`)
}

function dispatchWithOptions(
  all: ResolvedHooks,
  payload: unknown,
  envelope: Envelope,
  options: DispatchOptions = {},
): Promise<Decision> {
  const problem = optionsProblem(options)
  if (problem !== undefined) return Promise.reject(shapeError(all.eventHooks, problem))
  const resolved = selectHooks(all, options)
  const dispatch = new Dispatch(resolved, payload, envelope)
  const { engine } = resolved
  const sink = options.sink ?? engine.sink
  if (options.sink !== undefined) dispatch.withExtras().sink = sink
  if (options.effects !== undefined) dispatch.withExtras().effects = options.effects
  if (options.trace || sink?.timed) {
    const extras = dispatch.withExtras()
    extras.log = new ExecutionLog(true, engine.clock.elapsed())
    extras.wantsTrace = options.trace ?? false
    if (extras.wantsTrace) dispatch.openPromise()
  }
  const pass = checkDepth(dispatch.depth, engine.maxDepth)
  if (options.signal?.aborted) return skipAll(dispatch, 'aborted', ABORTED)
  const hasHooks = resolved.hooks.length + resolved.observers.length > 0
  if (!pass.pass && hasHooks) return skipAll(dispatch, 'skipped', pass)
  if (options.signal !== undefined) dispatch.abortWith(options.signal)
  for (const hook of resolved.observers) startDetached(dispatch, hook, 'observe')
  return dispatch.start()
}

function optionsProblem(options: DispatchOptions): Problem | undefined {
  if (!isRecord(options)) return { path: 'options', expected: 'an object' }
  const { signal } = options
  if (signal === undefined || signal instanceof AbortSignal) return undefined
  return { path: 'options.signal', expected: 'an AbortSignal' }
}

function selectHooks(resolved: ResolvedHooks, { observers, only }: DispatchOptions): ResolvedHooks {
  if (only === undefined && observers !== 'skip') return resolved
  const isSelected = (hook: CompiledHook) => only === undefined || hook.id === only
  return {
    ...resolved,
    hooks: only === undefined ? resolved.hooks : resolved.hooks.filter(isSelected),
    observers: observers === 'skip' ? [] : resolved.observers.filter(isSelected),
  }
}

/** Runs nothing and records for every hook why. A gate with hooks blocks. */
export function skipAll(
  dispatch: Dispatch,
  decision: 'aborted' | 'skipped',
  { code, skip: reason }: Skip,
): Promise<Decision> {
  const { engine, eventHooks, hooks, observers } = dispatch.resolved
  const { event, depth } = dispatch
  for (const hook of [...hooks, ...observers]) recordExecution(dispatch, hook, { decision, code, reason })
  if (code === 'guard.depth')
    engine.log('security.hook.loop_depth_exceeded', { event, depth, max: engine.maxDepth })
  const decides = hooks.some((hook) => !hook.shadow)
  if (eventHooks.row.mode === 'gate' && (decides || decision === 'aborted')) {
    builderOf(dispatch).decide({ kind: 'block', reason }, undefined, code)
  }
  dispatch.stop()
  return dispatch.out ?? Promise.resolve(dispatch.decision)
}
