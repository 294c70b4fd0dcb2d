import { isRecord } from '../../engine/core/check.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { parseJson } from '../../safe/json.ts'
import { refusal } from '../block-answer.ts'
import { readReply } from '../read-answer.ts'
import type { SchemaCheck } from './json-schema.ts'

type Call = Pick<HandlerCall<unknown>, 'payload' | 'context' | 'hook'>
type Answer = Readonly<Record<string, unknown>>

/** The events whose input is what an agent calls parameters. */
const rewritable: readonly string[] = ['run_start', 'pre_tool_use', 'permission_request']

/** One of three shapes decides: `action`, `ok`, or the one that commands and webhooks use. */
const shapes = ['action', 'ok', 'kind', 'decision', 'hookSpecificOutput'] as const

/** Strict: what an agent did not clearly say, it did not say. */
export function readAgentAnswer(value: unknown, call: Call, check: SchemaCheck): unknown {
  const answer = typeof value === 'string' ? parsed(value) : value
  if (!isRecord(answer)) throw unfit('is no object')
  const problem = check(answer)
  if (problem !== undefined) throw unfit(`does not fit its schema: ${problem}`)
  const found = shapes.filter((key) => answer[key] !== undefined)
  if (found.length === 0) throw unfit('has no decision in it')
  if (found.length > 1) throw unfit(`decides twice: ${found.join(', ')}`)
  if (answer.action !== undefined) return readAction(answer, call)
  if (answer.ok !== undefined) return readOkAnswer(answer, call)
  return readOwn(answer, call)
}

function readAction({ action, parameters, block_reason: why }: Answer, { context, hook }: Call): unknown {
  if (action === 'block') {
    if (why !== undefined && why !== null && typeof why !== 'string')
      throw unfit('gives a reason that is no text')
    return refusal('block', why ? { reason: why } : {}, hook)
  }
  if (action !== 'continue') throw unfit('has an action that is neither "continue" nor "block"')
  if (parameters === undefined || parameters === null) return undefined
  if (!isRecord(parameters)) throw unfit('has parameters that are no object')
  if (Object.keys(parameters).length === 0) return undefined
  if (!rewritable.includes(context.event)) throw unfit('changes parameters where there are none')
  return { kind: 'allow', patch: parameters }
}

function readOkAnswer({ ok, reason }: Answer, { hook }: Call): unknown {
  if (ok === true) return undefined
  if (ok !== false) throw unfit('has an ok that is neither true nor false')
  const said = typeof reason === 'string' && reason !== '' ? reason : 'hook rejected the event'
  return refusal('block', { reason: said }, hook)
}

function readOwn(answer: Answer, call: Call): unknown {
  try {
    return readReply(answer, call)
  } catch (thrown) {
    throw unfit(`cannot be read: ${errorText(thrown)}`)
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw unfit('is no JSON')
  }
}

function unfit(what: string): HookError {
  return new HookError('agent.output_schema', `the answer of the agent ${what}`)
}
