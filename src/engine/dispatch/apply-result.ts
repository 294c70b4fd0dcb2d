import type { Failure, Kind } from '../core/decision.ts'
import { errorText, isHookError } from '../core/errors/error.ts'
import type { ErrorCode } from '../core/errors/error-table.ts'
import type { EventRow } from '../core/event.ts'
import { type HandlerResult, readResult } from '../core/result.ts'
import { isRecord } from '../core/schema/check.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { builderOf, type DecisionBuilder } from './decision-builder.ts'
import type { Dispatch } from './dispatch.ts'
import { recordExecution, wantsEntry } from './execution-log.ts'
import { rewriteInput } from './rewrite-input.ts'

type Applied = 'next' | 'stop'

/** Applies what a handler returned. */
export function applyResult(dispatch: Dispatch, hook: CompiledHook, value: unknown): Applied {
  const { eventHooks, role } = dispatch.resolved
  if (role === 'observe') return applyObserved(dispatch, hook, value)
  const answer = readSafely(eventHooks.row, value)
  if (typeof answer === 'string') return applyFailure(dispatch, hook, 'invalid', 'handler.result', answer)
  const result = hook.otherFolder === undefined ? answer : objectionOf(dispatch, hook, answer)
  if (role === 'decide' && result.input !== undefined) {
    const rewritten = rewriteInput(dispatch, hook, result.input)
    if (rewritten === 'blocked') return 'stop'
    if (rewritten !== 'applied')
      return applyFailure(dispatch, hook, 'invalid', 'handler.result', rewritten.invalid)
  }
  reportAnswer(dispatch, hook, result.kind)
  if (value !== undefined || !hook.plain || wantsEntry(dispatch)) {
    const { kind, reason } = result
    recordExecution(dispatch, hook, {
      decision: kind,
      ...(reason === undefined ? {} : { reason }),
      ...(value === undefined ? {} : { detail: value }),
    })
  }
  return role === 'decide' ? mergeResult(dispatch, hook, result) : 'next'
}

/** What a hook of another folder may say: an objection, or a hint for the model. */
function objectionOf(dispatch: Dispatch, hook: CompiledHook, answer: HandlerResult): HandlerResult {
  const { input, grant, fields: _, ...objection } = answer
  if (dispatch.resolved.role === 'decide' && (input !== undefined || grant)) {
    const what = input === undefined ? 'permit a call' : 'change a call'
    const reason = `hooks of ${hook.otherFolder} may not ${what} of an agent that works elsewhere`
    builderOf(dispatch).ignored.push({ hook: hook.id, code: 'engine.other_folder', reason })
  }
  return objection
}

function readSafely(row: EventRow, value: unknown): HandlerResult | string {
  try {
    return readResult(row, value)
  } catch (thrown) {
    return `answered something that cannot be read: ${errorText(thrown)}`
  }
}

function mergeResult(dispatch: Dispatch, hook: CompiledHook, result: HandlerResult): Applied {
  const ranBefore = dispatch.extras?.passedInputs.has(hook) ?? false
  if (hook.seesFinalInput) dispatch.withExtras().passedInputs.set(hook, dispatch.payload)
  try {
    // A hook that runs in both passes adds its fields and context once.
    const added = ranBefore ? { ...result, fields: undefined, context: undefined } : result
    return decide(dispatch, hook, added)
  } catch (thrown) {
    // The merge rule of a host's own event may throw.
    return applyFailure(dispatch, hook, 'invalid', 'handler.result', thrown)
  }
}

/** Any readable answer resets the breaker, unless it counts blocks. */
function reportAnswer({ resolved }: Dispatch, hook: CompiledHook, kind: Kind): void {
  if (kind === 'block' || hook.health.failures > 0) resolved.engine.onAnswer(hook, kind)
}

function decide(dispatch: Dispatch, hook: CompiledHook, result: HandlerResult): Applied {
  const { row } = dispatch.resolved.eventHooks
  if (row.mode === 'claim' && result.fields?.handled !== true) return 'next'
  const { kind, grant, context, fields } = result
  if (kind === 'allow' && grant === undefined && context === undefined && fields === undefined) return 'next'
  const builder = builderOf(dispatch)
  builder.add(row, result, hook.id)
  builder.decide(result, hook)
  if (row.mode === 'claim') {
    builder.by = hook.id
    return 'stop'
  }
  if (row.mode !== 'gate') {
    if (builder.kind !== 'allow') ignoreBlock(dispatch, builder)
    return 'next'
  }
  return kind === 'block' ? 'stop' : 'next'
}

function ignoreBlock(dispatch: Dispatch, builder: DecisionBuilder): void {
  dispatch.resolved.engine.log('engine.block_ignored', {
    event: dispatch.event,
    hook: builder.by,
    reason: builder.reason,
  })
  builder.ignoreBlock('engine.block_ignored')
}

/** The answer of an observer changes nothing; an attempt to block is logged. */
function applyObserved(dispatch: Dispatch, hook: CompiledHook, value: unknown): Applied {
  reportAnswer(dispatch, hook, 'allow')
  if (triesToBlock(value)) {
    dispatch.resolved.engine.log('engine.block_ignored', { event: dispatch.event, hook: hook.id })
    recordExecution(dispatch, hook, { decision: 'block', code: 'engine.block_ignored', detail: value })
  } else if (!hook.plain || wantsEntry(dispatch)) recordExecution(dispatch, hook, { decision: 'allow' })
  return 'next'
}

function triesToBlock(value: unknown): boolean {
  try {
    return isRecord(value) && value.kind === 'block'
  } catch {
    return false
  }
}

/** Applies the policy of a hook that failed. This is the only place where a failure opens or closes a gate. */
export function applyFailure(
  dispatch: Dispatch,
  hook: CompiledHook,
  because: Failure,
  code: ErrorCode,
  thrown: unknown,
): Applied {
  // A coded error says better what happened; an unreadable answer is not an error of the handler.
  if (because === 'error' && isHookError(thrown) && thrown.code !== code) {
    return applyFailure(dispatch, hook, failureOf(thrown.code), thrown.code, thrown)
  }
  const { engine, eventHooks, role } = dispatch.resolved
  const text = because === 'timeout' ? `no answer within ${hook.timeoutMs} ms` : errorText(thrown)
  const reason = `${hook.id} failed (${because}): ${text}`
  recordExecution(dispatch, hook, {
    decision: because === 'timeout' ? 'timeout' : 'error',
    code,
    reason,
    ...(thrown === undefined ? {} : { detail: thrown }),
  })
  if (!isRefusal(hook, code, thrown)) engine.onFailure(hook, because, code)
  if (eventHooks.row.mode !== 'gate' || role !== 'decide') return 'next'
  if (hook.policies[because] === 'allow') {
    builderOf(dispatch).open(hook.id, because, code)
    return 'next'
  }
  // The sentence of an invalid answer is ours and tells its author what to do; other errors may hold secrets.
  const why = code === 'handler.result' && isHookError(thrown) ? `: ${text}` : ''
  const message = `a hook failed (${because})${why}`
  builderOf(dispatch).decide({ kind: 'block', reason, message }, hook, code)
  return 'stop'
}

/** The kind of failure decides, not the layer that noticed it: a deadline that the handler itself kept is a timeout. */
function failureOf(code: ErrorCode): Failure {
  if (code.endsWith('.timeout')) return 'timeout'
  return invalidAnswer.test(code) ? 'invalid' : 'error'
}

/** Codes of answers that were there and cannot be read. */
const invalidAnswer = /\.(?:result|parse|output_schema|output_limit|too_large|decode|worker)$/

/** A guard that says no, or a handler without budget, is not a failure that the breaker counts. */
function isRefusal(hook: CompiledHook, code: ErrorCode, thrown: unknown): boolean {
  if (!isHookError(thrown)) return code.startsWith('guard.')
  return hook.definition.handler_type !== 'function' && (code === 'guard.quota' || code === 'prompt.budget')
}
