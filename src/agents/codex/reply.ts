import { isRecord } from '../../engine/core/check.ts'
import { definedFields } from '../../engine/core/defined-fields.ts'
import type { ClientOutcome, NativePayload, ProcessReply } from '../agent-adapter.ts'
import { patchText } from '../translate/apply-patch.ts'
import { blockingReply, jsonReply, outputText, silentReply } from '../translate/process-reply.ts'
import { lookUp, toNative } from '../translate/tool-names.ts'
import { codexPatch, codexTools } from './tools.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => ProcessReply

// Codex rejects a reply with an unknown field, and a rejected reply allows the action. So each reply has only the
// fields that it needs.

const context =
  (hookEventName: string): Reply =>
  ({ context: additionalContext }) =>
    additionalContext === undefined
      ? silentReply
      : jsonReply({ hookSpecificOutput: { hookEventName, additionalContext } })

const preToolUse: Reply = (outcome, native) => {
  const { kind, message, input, context: additionalContext } = outcome
  if (kind === 'block' || kind === 'ask') return blockingReply(message)
  if (input === undefined) return context('PreToolUse')(outcome, native)
  const updatedInput = changedInput(native, input)
  if (updatedInput === undefined)
    return blockingReply(`a hook changed this call in a way that Codex cannot carry out: ${message}`)
  return jsonReply({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput,
      ...definedFields({ additionalContext }),
    },
  })
}

function changedInput(native: NativePayload, input: unknown): Readonly<Record<string, unknown>> | undefined {
  const original = codexPatch(native)
  if (original !== undefined) {
    const command = patchText(original, input)
    return command === undefined ? undefined : { command }
  }
  return isRecord(input) ? toNative(codexTools, String(native.tool_name), input) : undefined
}

const permissionRequest: Reply = ({ kind, message }) => {
  const permissionReply = (decision: object) =>
    jsonReply({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  if (kind === 'block' || kind === 'ask') return permissionReply({ behavior: 'deny', message })
  return kind === 'grant' ? permissionReply({ behavior: 'allow' }) : silentReply
}

/** A block does not undo the call. The model reads the reason instead of the output. */
const postToolUse: Reply = (outcome, native) => {
  const { input, context: additionalContext } = outcome
  if (input === undefined) return context('PostToolUse')(outcome, native)
  return jsonReply({
    decision: 'block',
    reason: outputText(input),
    ...(additionalContext === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext } }),
  })
}

const blocked = (message: string) => jsonReply({ decision: 'block', reason: message })

const userPromptSubmit: Reply = (outcome, native) =>
  outcome.kind === 'block' ? blocked(outcome.message) : context('UserPromptSubmit')(outcome, native)

const replies: Readonly<Record<string, Reply>> = {
  PreToolUse: preToolUse,
  PermissionRequest: permissionRequest,
  PostToolUse: postToolUse,
  UserPromptSubmit: userPromptSubmit,
  SessionStart: context('SessionStart'),
  SubagentStart: context('SubagentStart'),
  Stop: ({ kind, message }) => (kind === 'block' ? blocked(message) : silentReply),
  PreCompact: ({ kind, message }) =>
    kind === 'block' ? jsonReply({ continue: false, stopReason: message }) : silentReply,
}

/** The reply in the exact format that Codex honours for this event. */
export function codexReply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply {
  return lookUp(replies, event)?.(outcome, native) ?? silentReply
}
