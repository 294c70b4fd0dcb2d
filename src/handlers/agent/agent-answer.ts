import { errorText, type HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { parseJsonIfValid } from '../../safe/json.ts'
import type { HookAnswer } from '../answer-dialects.ts'
import { readAnswerObject } from '../read-answer.ts'
import { createRefusal } from '../refusal.ts'
import { changeKeyOf } from '../run-hook-input.ts'
import type { SchemaCheck } from './schema-check.ts'

type Call = Pick<HandlerCall<unknown>, 'payload' | 'context' | 'hook'>

/** The keys that decide: `action`, `ok`, or those of commands and webhooks. An answer must have exactly one. */
const shapes = ['action', 'ok', 'kind', 'decision', 'hookSpecificOutput'] as const

/** Reads the answer strictly: every doubt throws `agent.output_schema`. */
export function readAgentAnswer(value: unknown, call: Call, check: SchemaCheck): unknown {
  const answer = typeof value === 'string' ? parseJsonIfValid(value) : value
  if (answer === undefined && typeof value === 'string') throw answerError('is not JSON')
  if (!isRecord(answer)) throw answerError('is not an object')
  const problem = check(answer)
  if (problem !== undefined) throw answerError(`does not fit its schema: ${problem}`)
  const found = shapes.filter((key) => answer[key] !== undefined)
  if (found.length === 0) throw answerError('has no decision in it')
  if (found.length > 1) throw answerError(`decides twice: ${found.join(', ')}`)
  if (answer.action !== undefined) return readAction(answer, call)
  if (answer.ok !== undefined) return readOkAnswer(answer, call)
  return readHookAnswer(answer, call)
}

function readAction(answer: HookAnswer, { context, hook }: Call): unknown {
  const { action, block_reason: why } = answer
  if (action === 'block') {
    if (why !== undefined && why !== null && typeof why !== 'string')
      throw answerError('has a block_reason that is not text')
    return createRefusal('block', why ? { reason: why } : {}, hook)
  }
  if (action !== 'continue') throw answerError('has an action that is neither "continue" nor "block"')
  const own = changeKeyOf(context.event)
  for (const key of ['parameters', 'result'] as const) {
    const change = readChange(answer, key)
    if (change === undefined) continue
    if (key !== own) throw answerError(`changes ${key} on an event that has none`)
    return { kind: 'allow', input: change }
  }
  return undefined
}

/** Nothing, null and `{}` change nothing. */
function readChange(answer: HookAnswer, key: 'parameters' | 'result'): HookAnswer | undefined {
  const change = answer[key]
  if (change === undefined || change === null) return undefined
  if (!isRecord(change))
    throw answerError(`has ${key === 'result' ? 'a result that is' : 'parameters that are'} not an object`)
  return Object.keys(change).length === 0 ? undefined : change
}

function readOkAnswer({ ok, reason }: HookAnswer, { hook }: Call): unknown {
  if (ok === true) return undefined
  if (ok !== false) throw answerError('has an ok that is neither true nor false')
  const text = typeof reason === 'string' && reason !== '' ? reason : 'hook rejected the event'
  return createRefusal('block', { reason: text }, hook)
}

function readHookAnswer(answer: HookAnswer, call: Call): unknown {
  try {
    return readAnswerObject(answer, call)
  } catch (thrown) {
    throw answerError(`cannot be read: ${errorText(thrown)}`)
  }
}

function answerError(what: string): HookError {
  return handlerError('agent.output_schema', `the answer ${what}`)
}
