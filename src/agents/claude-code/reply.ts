import { isRecord } from '../../engine/core/check.ts'
import type { ClientOutcome, NativePayload, ProcessReply } from '../agent-adapter.ts'
import { blockingReply, jsonReply, silentReply } from '../translate/process-reply.ts'
import { lookUp } from '../translate/tool-names.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => ProcessReply

/** Where nothing can be refused, words can still be added. */
const context =
  (hookEventName: string): Reply =>
  ({ context: additionalContext }) =>
    additionalContext === undefined
      ? silentReply
      : jsonReply({ hookSpecificOutput: { hookEventName, additionalContext } })

const preToolUse: Reply = ({ kind, message, input, context: additionalContext }) => {
  const decision = { pass: undefined, grant: 'allow', ask: 'ask', block: 'deny' }[kind]
  const output = {
    ...(decision === undefined ? {} : { permissionDecision: decision, permissionDecisionReason: message }),
    ...(input === undefined ? {} : { updatedInput: input }),
    ...(additionalContext === undefined ? {} : { additionalContext }),
  }
  if (Object.keys(output).length === 0) return silentReply
  return jsonReply({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
}

const permissionRequest: Reply = ({ kind, message, input }) => {
  const say = (decision: object) =>
    jsonReply({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  if (kind === 'block') return say({ behavior: 'deny', message })
  if (input !== undefined) return say({ behavior: 'allow', updatedInput: input })
  return kind === 'grant' ? say({ behavior: 'allow' }) : silentReply
}

const postToolUse: Reply = ({ input, context: additionalContext }, native) => {
  const output = {
    ...(additionalContext === undefined ? {} : { additionalContext }),
    ...(input === undefined ? {} : { updatedToolOutput: shapedLike(native.tool_response, input) }),
  }
  if (Object.keys(output).length === 0) return silentReply
  return jsonReply({ hookSpecificOutput: { hookEventName: 'PostToolUse', ...output } })
}

/** A text in place of an object is ignored there, and what should be hidden would be seen: it becomes the object's text. */
function shapedLike(original: unknown, input: unknown): unknown {
  if (!isRecord(original) || typeof input !== 'string') return input
  return { ...emptied(original), ...textPlace(original, input) }
}

/** What tells the shapes of a result apart: without it the whole change would be ignored. */
const kinds = new Set(['type', 'status', 'mode'])

function emptied(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const empty = (item: unknown): unknown => {
    if (typeof item === 'string') return ''
    if (Array.isArray(item)) return item.map(empty)
    return isRecord(item) ? emptied(item) : item
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, kinds.has(key) ? item : empty(item)]),
  )
}

/** Where the text of a result is: a key of its own, the content of a file, blocks, or a list of names. */
function textPlace(
  original: Readonly<Record<string, unknown>>,
  text: string,
): Readonly<Record<string, unknown>> {
  const key = ['stdout', 'content', 'result', 'output', 'text'].find(
    (name) => typeof original[name] === 'string',
  )
  if (key !== undefined) return { [key]: text }
  const { file, content, filenames } = original
  if (isRecord(file) && typeof file.content === 'string') return { file: { ...emptied(file), content: text } }
  if (Array.isArray(content)) return { content: [{ type: 'text', text }] }
  return Array.isArray(filenames) ? { filenames: [text] } : { stdout: text }
}

/** The prompt is erased, or the compaction does not take place. */
const refusable =
  (event: string): Reply =>
  (outcome, native) =>
    outcome.kind === 'block'
      ? jsonReply({ decision: 'block', reason: outcome.message })
      : context(event)(outcome, native)

const exitOnly: Reply = ({ kind, message }) => (kind === 'block' ? blockingReply(message) : silentReply)

const replies: Readonly<Record<string, Reply>> = {
  PreToolUse: preToolUse,
  PermissionRequest: permissionRequest,
  PostToolUse: postToolUse,
  PostToolUseFailure: context('PostToolUseFailure'),
  UserPromptSubmit: refusable('UserPromptSubmit'),
  SessionStart: context('SessionStart'),
  Stop: ({ kind, message }) =>
    kind === 'block' ? jsonReply({ decision: 'block', reason: message }) : silentReply,
  SubagentStart: context('SubagentStart'),
  PreCompact: exitOnly,
  TaskCompleted: exitOnly,
}

/** In exactly the shape that Claude Code honours for this event. */
export function claudeCodeReply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply {
  return lookUp(replies, event)?.(outcome, native) ?? silentReply
}
