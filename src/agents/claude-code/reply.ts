import { isRecord } from '../../engine/core/schema/check.ts'
import {
  addsContext,
  blockingReply,
  hookReply,
  jsonReply,
  type Reply,
  replyFrom,
  silentReply,
} from '../translate/process-reply.ts'

const preToolUse: Reply = ({ kind, message, input, context: additionalContext }) => {
  const permissionDecision = { pass: undefined, grant: 'allow', ask: 'ask', block: 'deny' }[kind]
  const permissionDecisionReason = permissionDecision && message
  const changes = { updatedInput: input, additionalContext }
  return hookReply('PreToolUse', { permissionDecision, permissionDecisionReason, ...changes })
}

const permissionRequest: Reply = ({ kind, message, input }) => {
  const permissionReply = (decision: object) => hookReply('PermissionRequest', { decision })
  if (kind === 'block') return permissionReply({ behavior: 'deny', message })
  if (input !== undefined) return permissionReply({ behavior: 'allow', updatedInput: input })
  return kind === 'grant' ? permissionReply({ behavior: 'allow' }) : silentReply
}

const postToolUse: Reply = ({ input, context: additionalContext }, native) => {
  const updatedToolOutput = input === undefined ? undefined : shapedLike(native.tool_response, input)
  return hookReply('PostToolUse', { additionalContext, updatedToolOutput })
}

/**
 * Claude Code ignores a text where it expects an object, and the model would read the original. So the text goes into
 * the object.
 */
function shapedLike(original: unknown, input: unknown): unknown {
  if (!isRecord(original) || typeof input !== 'string') return input
  return { ...emptied(original), ...textPlace(original, input) }
}

/** The fields that identify the type of a result. Without them Claude Code ignores the whole change. */
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

/** Finds the text of a result: its own key, the content of a file, blocks, or a list of names. */
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

/** Erases the prompt, or cancels the compaction. */
const refusable =
  (event: string): Reply =>
  (outcome, native) =>
    outcome.kind === 'block'
      ? jsonReply({ decision: 'block', reason: outcome.message })
      : addsContext(event)(outcome, native)

const exitOnly: Reply = ({ kind, message }) => (kind === 'block' ? blockingReply(message) : silentReply)

/** The replies in the exact format that Claude Code honours. */
export const claudeCodeReply = replyFrom({
  PreToolUse: preToolUse,
  PermissionRequest: permissionRequest,
  PostToolUse: postToolUse,
  PostToolUseFailure: addsContext('PostToolUseFailure'),
  UserPromptSubmit: refusable('UserPromptSubmit'),
  SessionStart: addsContext('SessionStart'),
  Stop: ({ kind, message }) =>
    kind === 'block' ? jsonReply({ decision: 'block', reason: message }) : silentReply,
  SubagentStart: addsContext('SubagentStart'),
  PreCompact: exitOnly,
  TaskCompleted: exitOnly,
})
