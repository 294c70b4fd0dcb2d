import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../core/check.ts'
import type { Failure, Kind } from '../core/decision.ts'
import { errorText, isHookError } from '../core/error.ts'
import type { ErrorCode } from '../core/error-table.ts'
import type { EventRow } from '../core/event.ts'
import { freezeDeep } from '../core/freeze.ts'
import { plainCopy } from '../core/plain-copy.ts'
import { type Result, readResult } from '../core/result.ts'
import type { Execution } from '../core/sink.ts'
import { Answer } from './answer.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import { Protocol } from './protocol.ts'

type Settled = 'next' | 'stop'

/** The answer of a dispatch, from the moment a hook has something to say. */
export function say(dispatch: Dispatch): Answer {
  dispatch.answer ??= new Answer()
  return dispatch.answer
}

export function note(dispatch: Dispatch, hook: CompiledHook, line: Omit<Execution, 'hook'>): void {
  const { engine, role } = dispatch.track
  const aside = dispatch.withAside()
  aside.protocol ??= new Protocol(false, 0)
  aside.protocol.lines.push({
    hook: hook.id,
    ...line,
    ...(aside.facts === undefined ? {} : { facts: aside.facts }),
    ...(role === 'shadow' ? { shadow: true } : {}),
    ...(aside.secondPass ? { recheck: true } : {}),
    ...(aside.protocol.timed && line.decision !== 'skipped'
      ? { durationMs: engine.clock.elapsed() - aside.startedAt }
      : {}),
  })
  aside.facts = undefined
}

/** Remembers when a handler was called, if somebody wants to know how long it took. */
export function startClock(dispatch: Dispatch): void {
  const { aside, track } = dispatch
  if (aside?.protocol?.timed) aside.startedAt = track.engine.clock.elapsed()
}

/** Takes what a handler answered. */
export function accept(dispatch: Dispatch, hook: CompiledHook, value: unknown): Settled {
  const { plan, role } = dispatch.track
  if (role === 'observe') return observed(dispatch, hook, value)
  const result = read(plan.row, value)
  if (typeof result === 'string') return fail(dispatch, hook, 'invalid', 'handler.result', result)
  if (role === 'decide' && result.patch !== undefined) {
    const problem = rewrite(dispatch, hook, result.patch)
    if (problem !== undefined) return problem
  }
  good(dispatch, hook, result.kind)
  if (value !== undefined || !hook.plain || wantsLine(dispatch)) {
    const { kind, reason } = result
    note(dispatch, hook, {
      decision: kind,
      ...(reason === undefined ? {} : { reason }),
      ...(value === undefined ? {} : { detail: value }),
    })
  }
  return role === 'decide' ? merge(dispatch, hook, result) : 'next'
}

function read(row: EventRow, value: unknown): Result | string {
  try {
    return readResult(row, value)
  } catch (thrown) {
    return `answered something that cannot be read: ${errorText(thrown)}`
  }
}

function merge(dispatch: Dispatch, hook: CompiledHook, result: Result): Settled {
  const again = dispatch.aside?.passed.has(hook) ?? false
  if (hook.vouches) dispatch.withAside().passed.set(hook, dispatch.payload)
  try {
    // What a hook adds, it adds once, though it may run twice.
    return decide(dispatch, hook, again ? { ...result, fields: undefined, context: undefined } : result)
  } catch (thrown) {
    // The event's own merge rule is somebody's code too.
    return fail(dispatch, hook, 'invalid', 'handler.result', thrown)
  }
}

/** Any readable answer is a good one, unless blocks are counted. */
function good({ track }: Dispatch, hook: CompiledHook, kind: Kind): void {
  if (kind === 'block' || hook.health.failures > 0) track.engine.answered(hook, kind)
}

function wantsLine({ aside }: Dispatch): boolean {
  return aside !== null && (aside.protocol?.timed === true || aside.facts !== undefined)
}

function decide(dispatch: Dispatch, hook: CompiledHook, result: Result): Settled {
  const { row } = dispatch.track.plan
  if (row.mode === 'claim' && result.fields?.handled !== true) return 'next'
  const { kind, grant, context, fields } = result
  if (kind === 'allow' && grant === undefined && context === undefined && fields === undefined) return 'next'
  const answer = say(dispatch)
  answer.add(row, result, hook.id)
  answer.decide(result, hook.id)
  if (row.mode === 'claim') {
    answer.by = hook.id
    return 'stop'
  }
  if (row.mode !== 'gate') {
    if (answer.kind !== 'allow') ignoreBlock(dispatch, answer)
    return 'next'
  }
  return kind === 'block' ? 'stop' : 'next'
}

function ignoreBlock(dispatch: Dispatch, answer: Answer): void {
  dispatch.track.engine.log('engine.block_ignored', {
    event: dispatch.event,
    hook: answer.by,
    reason: answer.reason,
  })
  answer.ignore('engine.block_ignored')
}

/** An observer's answer changes nothing; one that tried to block is told to the operator. */
function observed(dispatch: Dispatch, hook: CompiledHook, value: unknown): Settled {
  good(dispatch, hook, 'allow')
  let blocks = false
  try {
    blocks = isRecord(value) && value.kind === 'block'
  } catch {
    // A value that cannot be read says nothing.
  }
  if (blocks) {
    dispatch.track.engine.log('engine.block_ignored', { event: dispatch.event, hook: hook.id })
    note(dispatch, hook, { decision: 'block', code: 'engine.block_ignored', detail: value })
  } else if (!hook.plain || wantsLine(dispatch)) note(dispatch, hook, { decision: 'allow' })
  return 'next'
}

/** Puts the patch in the place of the input; answers how to go on when that is not possible. */
function rewrite(dispatch: Dispatch, hook: CompiledHook, patch: unknown): Settled | undefined {
  try {
    return rewriteWith(dispatch, hook, plainCopy(patch))
  } catch (thrown) {
    return fail(dispatch, hook, 'invalid', 'handler.result', `rewrote the input to ${errorText(thrown)}`)
  }
}

function rewriteWith(dispatch: Dispatch, hook: CompiledHook, patch: unknown): Settled | undefined {
  const { row } = dispatch.track.plan
  const key = row.rewrites ?? ''
  const payload = isRecord(dispatch.payload) ? dispatch.payload : {}
  const before = payload[key]
  if (isRecord(patch) && Object.keys(patch).length === 0) return undefined
  if (isDeepStrictEqual(before, patch)) return undefined
  if (dispatch.aside?.secondPass) return refuseChange(dispatch, hook)
  const next = { ...payload, [key]: patch }
  const problem = row.payload(next)
  if (problem !== undefined) {
    const text = `rewrote ${problem.path} to something that is not ${problem.expected}`
    return fail(dispatch, hook, 'invalid', 'handler.result', text)
  }
  freezeDeep(next)
  const aside = dispatch.withAside()
  if (!aside.rewritten) aside.original = dispatch.payload
  aside.rewritten = true
  dispatch.payload = next
  const answer = say(dispatch)
  answer.steps.push({ hook: hook.id, before, after: patch })
  // Who granted before granted another input.
  answer.grant = false
  return undefined
}

/** In the second pass the input is final: a hook that wants it otherwise closes the gate. */
function refuseChange(dispatch: Dispatch, hook: CompiledHook): Settled {
  const reason = `${hook.id} changed an input that had already been passed`
  note(dispatch, hook, { decision: 'block', code: 'engine.unstable_rewrite', reason })
  say(dispatch).decide({ kind: 'block', reason }, hook.id, 'engine.unstable_rewrite')
  return 'stop'
}

/** Failing closed is here and nowhere else. */
export function fail(
  dispatch: Dispatch,
  hook: CompiledHook,
  because: Failure,
  code: ErrorCode,
  thrown: unknown,
): Settled {
  // A coded error says better what happened; an answer that cannot be read is not an error of the handler.
  if (because === 'error' && isHookError(thrown) && thrown.code !== code) {
    return fail(dispatch, hook, failureOf(thrown.code, hook), thrown.code, thrown)
  }
  const { engine, plan, role } = dispatch.track
  const text = because === 'timeout' ? `no answer within ${hook.timeoutMs} ms` : errorText(thrown)
  const reason = `${hook.id} failed (${because}): ${text}`
  note(dispatch, hook, {
    decision: because === 'timeout' ? 'timeout' : 'error',
    code,
    reason,
    ...(thrown === undefined ? {} : { detail: thrown }),
  })
  if (!isRefusal(hook, code, thrown)) engine.failed(hook, because, code)
  if (plan.row.mode !== 'gate' || role !== 'decide') return 'next'
  const policy =
    because === 'timeout' ? hook.onTimeout : because === 'invalid' ? hook.onInvalid : hook.onError
  if (policy === 'allow') {
    say(dispatch).open(hook.id, because, code)
    return 'next'
  }
  say(dispatch).decide({ kind: 'block', reason, message: `a hook failed (${because})` }, hook.id, code)
  return 'stop'
}

/** The kind of failure decides, whichever layer noticed it: a deadline that a handler keeps itself is a timeout too. */
function failureOf(code: string, { timeoutCode }: CompiledHook): Failure {
  if (code === timeoutCode) return 'timeout'
  return code === 'handler.result' ? 'invalid' : 'error'
}

/** A guard that says no, or a handler that has nothing left to spend, is no failure of the hook behind it. */
function isRefusal(hook: CompiledHook, code: ErrorCode, thrown: unknown): boolean {
  if (!isHookError(thrown)) return code.startsWith('guard.')
  return hook.definition.handler_type !== 'function' && (code === 'guard.quota' || code === 'prompt.budget')
}
