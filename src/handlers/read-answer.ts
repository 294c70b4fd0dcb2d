import { isRecord } from '../engine/core/check.ts'
import { HookError } from '../engine/core/error.ts'
import type { HandlerCall } from '../engine/core/handler.ts'
import { parseJson } from '../safe/json.ts'
import { isKnownDialect, placesOf, type Reply, type Voice, voicesOf } from './answer-dialects.ts'
import { isEmpty, patchOf } from './answer-patch.ts'
import { refusal } from './block-answer.ts'

type Call = Pick<HandlerCall<unknown>, 'payload' | 'context' | 'hook'>

interface ReadOptions {
  /** The text of the event, for a hook that only sends it back. */
  readonly sent?: string
  /** Events on which plain text is context for the model. */
  readonly textIsContext?: readonly string[]
}

/**
 * What a command printed or a webhook answered, as a result. Nothing at all allows. What nobody can read allows too,
 * but is flagged, and `on_invalid: block` closes it. A decision that is there but unknown, or there twice, is an
 * invalid answer, never an allow.
 */
export function readAnswer(text: string, call: Call, options: ReadOptions = {}): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (trimmed === options.sent?.trim()) return unreadable(call, 'the hook answered its own event')
  const reply = parseReply(trimmed)
  if (isRecord(reply)) return readReply(reply, call)
  const answer = unreadable(call, 'the answer is text, not a JSON object')
  return options.textIsContext?.includes(call.context.event) ? { kind: 'allow', context: trimmed } : answer
}

/** The same for an answer that is an object already. */
export function readReply(reply: Reply, call: Call): unknown {
  if (reply.kind !== undefined) return ownShape(reply, call)
  if (Object.keys(reply).length === 0) return undefined
  if (!isKnownDialect(reply)) return unreadable(call, 'the answer has no decision in it')
  // To stop an agent that is about to stop means to let it: a block would send it back to work.
  if (reply.continue === false && endings.includes(call.context.event)) return undefined
  const { voices, problem } = voicesOf(reply)
  const strictest = voices.find(isBlock) ?? voices.find(({ kind }) => kind === 'ask')
  // A clear block stands, whatever else the answer contains.
  if (strictest?.kind === 'block') return refusal('block', strictest, call.hook)
  if (problem !== undefined) throw invalid(`${problem} is nothing that is known`)
  return {
    ...(strictest === undefined ? { kind: 'allow' } : refusal('ask', strictest, call.hook)),
    ...(reply.grant === undefined ? {} : { grant: reply.grant }),
    ...extras(reply, call),
  }
}

const endings = ['stop', 'subagent_stop']

const isBlock = ({ kind }: Voice) => kind === 'block'

function extras(reply: Reply, { payload, context }: Call): Record<string, unknown> {
  const patch = patchOf(reply, { event: context.event, payload })
  const { specific } = placesOf(reply)
  const notes = [specific.additionalContext, reply.additionalContext, reply.additional_context]
    .flat()
    .filter((note) => note !== undefined && note !== null && note !== '')
  return { ...(patch === undefined ? {} : { patch }), ...(notes.length > 0 ? { context: notes } : {}) }
}

/** Our own shape goes to the engine as it is, which knows what the event may answer. */
function ownShape(reply: Reply, { hook }: Call): unknown {
  const { patch, ...rest } = reply
  const answer = isEmpty(patch) ? rest : reply
  const { kind, reason, message } = reply
  if (kind !== 'block' && kind !== 'ask') return answer
  if (reason !== undefined && typeof reason !== 'string') return answer
  if (message !== undefined && typeof message !== 'string') return answer
  const said = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) }
  return { ...answer, ...refusal(kind, said, hook) }
}

function parseReply(text: string): unknown {
  try {
    return parseJson(text)
  } catch (thrown) {
    // Text is not JSON and says nothing; JSON with two faces, or too deep to look into, is not text.
    if (thrown instanceof HookError && thrown.code === 'input.json') return undefined
    const why = thrown instanceof HookError ? thrown.message : 'the answer cannot be read'
    throw new HookError('handler.result', `the answer is refused: ${why}`, { cause: thrown })
  }
}

function unreadable({ hook, context }: Call, why: string): undefined {
  context.report({ unreadable: true })
  if (hook.on_invalid === 'block') throw invalid(why)
  return undefined
}

function invalid(why: string): HookError {
  return new HookError('handler.result', why)
}
