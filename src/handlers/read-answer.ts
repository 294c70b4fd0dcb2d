import { isRecord } from '../engine/core/check.ts'
import { HookError } from '../engine/core/error.ts'
import type { HandlerCall } from '../engine/core/handler.ts'
import { parseJson } from '../safe/json.ts'
import {
  type HookAnswer,
  isEmptyPatch,
  isKnownDialect,
  readAnswerContext,
  readAnswerPatch,
  readDecisions,
} from './answer-dialects.ts'
import { createRefusal } from './refusal.ts'

type Call = Pick<HandlerCall<unknown>, 'payload' | 'context' | 'hook'>

interface AnswerOptions {
  /** The text of the event, to detect a hook that only sends it back. */
  readonly sent?: string
  /** Events on which plain text is context for the model. */
  readonly textIsContext?: readonly string[]
}

/**
 * Reads what a command printed or a webhook answered. An empty answer allows. An unreadable answer allows too, but the
 * record marks it, and with `on_invalid: block` it blocks. A decision that is unknown is an invalid answer, never an
 * allow.
 */
export function readAnswer(text: string, call: Call, options: AnswerOptions = {}): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (trimmed === options.sent?.trim()) return reportUnreadable(call, 'the hook answered its own event')
  const answer = parseAnswer(trimmed)
  if (isRecord(answer)) return readAnswerObject(answer, call)
  reportUnreadable(call, 'the answer is text, not a JSON object')
  return options.textIsContext?.includes(call.context.event) ? { kind: 'allow', context: trimmed } : undefined
}

/** Reads an answer that is already an object. */
export function readAnswerObject(answer: HookAnswer, call: Call): unknown {
  if (answer.kind !== undefined) return readOwnShape(answer, call)
  if (Object.keys(answer).length === 0) return undefined
  if (!isKnownDialect(answer)) return reportUnreadable(call, 'the answer has no decision in it')
  // On these events a block would send the agent back to work, and `continue: false` asks it to stop.
  if (answer.continue === false && stopEvents.includes(call.context.event)) return undefined
  const { decisions, unknownKey } = readDecisions(answer)
  const block = decisions.find(({ kind }) => kind === 'block')
  // A clear block wins over anything else in the answer.
  if (block !== undefined) return createRefusal('block', block, call.hook)
  if (unknownKey !== undefined) throw invalidAnswer(`${unknownKey} has an unknown value`)
  const question = decisions.find(({ kind }) => kind === 'ask')
  return {
    ...(question === undefined ? { kind: 'allow' } : createRefusal('ask', question, call.hook)),
    ...(answer.grant === undefined ? {} : { grant: answer.grant }),
    ...readPatchAndContext(answer, call),
  }
}

const stopEvents = ['stop', 'subagent_stop']

function readPatchAndContext(answer: HookAnswer, { payload, context }: Call): Record<string, unknown> {
  const patch = readAnswerPatch(answer, context.event, payload)
  const notes = readAnswerContext(answer)
  return { ...(patch === undefined ? {} : { input: patch }), ...(notes.length > 0 ? { context: notes } : {}) }
}

/** An answer in the shape of the engine, which knows what each event may answer. */
function readOwnShape(answer: HookAnswer, { hook }: Call): unknown {
  const { input: patch, ...rest } = answer
  const result = isEmptyPatch(patch) ? rest : answer
  const { kind, reason, message } = answer
  if (kind !== 'block' && kind !== 'ask') return result
  if (reason !== undefined && typeof reason !== 'string') return result
  if (message !== undefined && typeof message !== 'string') return result
  const texts = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
  return { ...result, ...createRefusal(kind, texts, hook) }
}

function parseAnswer(text: string): unknown {
  try {
    return parseJson(text)
  } catch (thrown) {
    // Text that is not JSON has no decision. JSON with repeated keys or too much depth may have two.
    if (thrown instanceof HookError && thrown.code === 'input.json') return undefined
    const why = thrown instanceof HookError ? thrown.message : 'the answer cannot be read'
    throw new HookError('handler.result', `the answer is refused: ${why}`, { cause: thrown })
  }
}

function reportUnreadable({ hook, context }: Call, why: string): undefined {
  context.report({ unreadable: true })
  if (hook.on_invalid === 'block') throw invalidAnswer(why)
  return undefined
}

function invalidAnswer(why: string): HookError {
  return new HookError('handler.result', why)
}
