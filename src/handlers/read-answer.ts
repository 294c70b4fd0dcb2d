import { isDeepStrictEqual } from 'node:util'
import { HookError } from '../engine/core/errors/error.ts'
import type { HandlerCall } from '../engine/core/handler.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { parseJson } from '../safe/json.ts'
import { redact } from '../safe/secrets/redact.ts'
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
 * Reads what a command printed or a webhook answered. An empty answer and an unchanged echo of the event allow. Anything
 * else that is not a readable answer is invalid, so `on_invalid` applies; only text without any sign of an answer is
 * a log, unless the hook says `exact`. The record has the beginning of what could not be read.
 */
export function readAnswer(text: string, call: Call, options: AnswerOptions = {}): unknown {
  const mode = call.hook.answer ?? 'strict'
  if (mode === 'ignore') return undefined
  try {
    return readText(text.trim(), call, options)
  } catch (thrown) {
    if (!(thrown instanceof HookError) || thrown.code !== 'handler.result') throw thrown
    reportPrinted(text, call)
    if (mode !== 'lenient') throw thrown
    call.context.report({ unreadable: true })
    return undefined
  }
}

function readText(text: string, call: Call, { sent, textIsContext }: AnswerOptions): unknown {
  if (text === '') return undefined
  const answer = parseAnswer(text)
  if (isEcho(text, answer, sent)) return undefined
  if (isRecord(answer)) return readAnswerObject(answer, call)
  if (answer !== undefined) throw invalidAnswer('the answer is JSON, but not an object')
  const attempt = attemptToAnswer(text)
  if (attempt !== undefined) throw invalidAnswer(attempt)
  if (call.hook.answer === 'exact') throw invalidAnswer(textIsNoAnswer)
  reportPrinted(text, call)
  // Marks the execution, so that explain and history never show it as a clean allow.
  call.context.report({ unreadable: true })
  return textIsContext?.includes(call.context.event) ? { kind: 'allow', context: text } : undefined
}

const textIsNoAnswer =
  'it printed text that is not an answer: print JSON or nothing, write logs to stderr, or declare `answer: strict` to take text for a log'

const MAX_PRINTED = 200
/** A character has four bytes at most, and more is redacted than kept: half of a secret does not look like one. */
const MAX_PRINTED_BYTES = MAX_PRINTED * 4

function reportPrinted(text: string, { context }: Call): void {
  context.report({ printed: [...redact(text, MAX_PRINTED_BYTES)].slice(0, MAX_PRINTED).join('') })
}

/** A hook such as `cat` sends the event back, perhaps formatted anew. */
function isEcho(text: string, answer: unknown, sent: string | undefined): boolean {
  if (sent === undefined) return false
  return text === sent.trim() || (isRecord(answer) && isDeepStrictEqual(answer, parseAnswer(sent)))
}

const decisionWord = /^\W*(?:block|blocked|deny|denied|ask|allow|allowed|approve|approved)\W*$/i
const html = /^<(?:!doctype|html|head|body|\?xml|[a-z][a-z0-9]*[\s>])/i
const answerKey =
  /["']?\b(?:decision|permissionDecision|permission|hookSpecificOutput|continue|behavior|kind)\b["']?\s*[:=]/

/** Why a text that is not JSON looks like an attempt to answer; undefined for an ordinary log. */
function attemptToAnswer(text: string): string | undefined {
  if (decisionWord.test(text)) return 'the answer is a bare word, not a JSON object'
  if (html.test(text)) return 'the answer is HTML, not a JSON object'
  if (/^[{[]/.test(text)) return 'the answer looks like JSON and cannot be parsed'
  if (/^\s*[{[]/m.test(text) || /\{\s*["']/.test(text) || answerKey.test(text))
    return 'the answer mixes JSON with other output'
  return undefined
}

/** Reads an answer that is already an object; throws `handler.result` for one that has no clear decision. */
export function readAnswerObject(answer: HookAnswer, call: Call): unknown {
  if (answer.kind !== undefined) return readOwnShape(answer, call)
  if (Object.keys(answer).length === 0) return undefined
  if (!isKnownDialect(answer, call.context.event)) throw invalidAnswer('the answer has no decision in it')
  // On these events a block would send the agent back to work, and `continue: false` asks it to stop.
  const isStop = stopEvents.includes(call.context.event)
  if (answer.continue === false && isStop) return undefined
  // Cursor continues with this message, which is what a block means here.
  if (isStop && typeof answer.followup_message === 'string' && answer.followup_message.trim() !== '')
    return createRefusal('block', { reason: answer.followup_message }, call.hook)
  const { decisions, unknownKey } = readDecisions(answer)
  const block = decisions.find(({ kind }) => kind === 'block')
  // A clear block wins over anything else in the answer.
  if (block !== undefined) return createRefusal('block', block, call.hook)
  if (unknownKey !== undefined) throw invalidAnswer(`${unknownKey} has an unknown value`)
  if (decisions.length === 0 && typeof answer.reason === 'string' && answer.reason !== '')
    throw invalidAnswer('the answer has a reason and no decision')
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

function invalidAnswer(why: string): HookError {
  return new HookError('handler.result', why)
}
