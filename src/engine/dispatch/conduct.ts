import { isRecord, type Problem } from '../core/check.ts'
import type { Envelope } from '../core/context.ts'
import type { Decision, HookId } from '../core/decision.ts'
import { errorText, HookError, isHookError } from '../core/error.ts'
import { freezeDeep } from '../core/freeze.ts'
import type { Skip } from '../core/guard-state.ts'
import { depth } from '../guard/depth.ts'
import { ALLOW } from './answer.ts'
import { beside } from './beside.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { Dispatch } from './dispatch.ts'
import type { Engine } from './engine.ts'
import type { Chain, Plan } from './plan.ts'
import { Protocol } from './protocol.ts'
import { note, say } from './settle.ts'

export interface DispatchOptions {
  readonly signal?: AbortSignal
  /** Answer with the full trace; waits for hooks that run beside the answer. */
  readonly trace?: boolean
  /** `skip`: hooks that only observe are not run; the caller sees to them, as a queue that survives a crash does. */
  readonly observers?: 'run' | 'skip'
  /** Run this hook alone. */
  readonly only?: HookId
}

const allowed = Promise.resolve(ALLOW)
const ABORTED: Skip = {
  pass: false,
  code: 'engine.aborted',
  skip: 'the dispatch was aborted before it began',
}

/** Receives an event and sends it through its hooks. Bad input rejects with a coded error: it never was an event. */
export function conduct(
  engine: Engine,
  plan: Plan,
  payload: unknown,
  envelope: Envelope,
  options: DispatchOptions | undefined,
): Promise<Decision> {
  let chain: Chain
  try {
    chain = receive(plan, payload, envelope)
  } catch (thrown) {
    return Promise.reject(unreadable(plan, thrown))
  }
  if (options !== undefined || !chain.simple || (envelope.depth ?? 0) > engine.maxDepth) {
    return conductFully(engine, chain, payload, envelope, options)
  }
  if (chain.silent) return allowed
  return new Dispatch(chain.deciders, payload, envelope).start()
}

/** Checks and freezes what came in, and finds its hooks; whatever it throws goes through `unreadable`. */
export function receive(plan: Plan, payload: unknown, envelope: Envelope): Chain {
  const problem = plan.row.payload(payload)
  if (problem !== undefined) throw misshapen(plan, problem)
  freezeDeep(payload)
  if (envelope !== NO_ENVELOPE) receiveEnvelope(plan, envelope)
  return plan.chainOf(payload)
}

function misused(options: DispatchOptions): Problem | undefined {
  if (!isRecord(options)) return { path: 'options', expected: 'an object' }
  const { signal } = options
  if (signal === undefined || signal instanceof AbortSignal) return undefined
  return { path: 'options.signal', expected: 'an AbortSignal' }
}

function receiveEnvelope(plan: Plan, envelope: Envelope): void {
  if (!isRecord(envelope)) throw misshapen(plan, { path: 'the envelope', expected: 'an object' })
  const { depth } = envelope
  if (depth !== undefined && !(Number.isInteger(depth) && Number(depth) >= 0)) {
    throw misshapen(plan, { path: 'depth', expected: 'a whole number' })
  }
  freezeDeep(envelope)
}

function misshapen({ event }: Plan, { path, expected }: Problem): HookError {
  return new HookError('input.schema', `${event}: ${path || 'the payload'} must be ${expected}`, { at: path })
}

/** The error of input that is no event. */
export function unreadable({ event }: Plan, thrown: unknown): HookError {
  if (isHookError(thrown)) return thrown
  return new HookError('input.unreadable', `${event}: the payload cannot be read: ${errorText(thrown)}`)
}

export const NO_ENVELOPE: Envelope = Object.freeze({})

function conductFully(
  engine: Engine,
  whole: Chain,
  payload: unknown,
  envelope: Envelope,
  options: DispatchOptions = {},
): Promise<Decision> {
  const problem = misused(options)
  if (problem !== undefined) return Promise.reject(misshapen(whole.deciders.plan, problem))
  const chain = narrowed(whole, options)
  const dispatch = new Dispatch(chain.deciders, payload, envelope)
  if (options.trace || engine.sink?.timed) {
    const aside = dispatch.withAside()
    aside.protocol = new Protocol(true, engine.clock.elapsed())
    aside.wantsTrace = options.trace ?? false
    if (aside.wantsTrace) dispatch.open()
  }
  const pass = depth(dispatch.depth, engine.maxDepth)
  if (options.signal?.aborted) return skipAll(dispatch, chain, 'aborted', ABORTED)
  if (!pass.pass) return skipAll(dispatch, chain, 'skipped', pass)
  if (options.signal !== undefined) dispatch.listen(options.signal)
  for (const hook of chain.observers) beside(dispatch, hook, 'observe')
  return dispatch.start()
}

function narrowed(chain: Chain, { observers, only }: DispatchOptions): Chain {
  if (only === undefined && observers !== 'skip') return chain
  const wanted = (hook: CompiledHook) => only === undefined || hook.id === only
  return {
    ...chain,
    deciders: { ...chain.deciders, hooks: chain.deciders.hooks.filter(wanted) },
    observers: observers === 'skip' ? [] : chain.observers.filter(wanted),
  }
}

/** Nothing runs, and every hook that would have has a line that says why. A gate with hooks closes. */
export function skipAll(
  dispatch: Dispatch,
  chain: Chain,
  decision: 'aborted' | 'skipped',
  { code, skip: reason }: Skip,
): Promise<Decision> {
  const { engine, plan, hooks } = dispatch.track
  const { event, depth } = dispatch
  for (const hook of [...hooks, ...chain.observers]) note(dispatch, hook, { decision, code, reason })
  if (code === 'guard.depth')
    engine.log('security.hook.loop_depth_exceeded', { event, depth, max: engine.maxDepth })
  const decides = hooks.some((hook) => !hook.shadow)
  if (plan.row.mode === 'gate' && (decides || decision === 'aborted')) {
    say(dispatch).decide({ kind: 'block', reason }, undefined, code)
  }
  dispatch.stop()
  return dispatch.out ?? Promise.resolve(dispatch.decision)
}
