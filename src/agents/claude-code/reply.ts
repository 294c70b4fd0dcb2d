import { isRecord } from '../../engine/core/check.ts'
import { definedFields } from '../../engine/core/defined-fields.ts'
import type { ClientOutcome, NativePayload, ProcessReply } from '../agent-adapter.ts'
import { blockingReply, jsonReply, silentReply } from '../translate/process-reply.ts'
import { lookUp } from '../translate/tool-names.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => ProcessReply

/** Events that cannot be blocked can still get context. */
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
    ...definedFields({ updatedInput: input, additionalContext }),
  }
  if (Object.keys(output).length === 0) return silentReply
  return jsonReply({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
}

const permissionRequest: Reply = ({ kind, message, input }) => {
  const permissionReply = (decision: object) =>
    jsonReply({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  if (kind === 'block') return permissionReply({ behavior: 'deny', message })
  if (input !== undefined) return permissionReply({ behavior: 'allow', updatedInput: input })
  return kind === 'grant' ? permissionReply({ behavior: 'allow' }) : silentReply
}

const postToolUse: Reply = ({ input, context: additionalContext }, native) => {
  const output = {
    ...definedFields({ additionalContext }),
    ...(input === undefined ? {} : { updatedToolOutput: shapedLike(native.tool_response, input) }),
  }
  if (Object.keys(output).length === 0) return silentReply
  return jsonReply({ hookSpecificOutput: { hookEventName: 'PostToolUse', ...output } })
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

/** The reply in the exact format that Claude Code honours for this event. */
export function claudeCodeReply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply {
  return lookUp(replies, event)?.(outcome, native) ?? silentReply
}
