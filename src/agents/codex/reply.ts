import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { patchText } from '../translate/apply-patch.ts'
import {
  addsContext,
  blockingReply,
  hookReply,
  jsonReply,
  outputText,
  type Reply,
  replyFrom,
  silentReply,
} from '../translate/process-reply.ts'
import { toNative } from '../translate/tool-names.ts'
import { codexPatch, codexTools } from './tools.ts'

// Codex rejects a reply with an unknown field, and a rejected reply allows the action. So each reply has only the
// fields that it needs.

const preToolUse: Reply = (outcome, native) => {
  const { kind, message, input, context: additionalContext } = outcome
  if (kind === 'block' || kind === 'ask') return blockingReply(message)
  if (input === undefined) return addsContext('PreToolUse')(outcome, native)
  const updatedInput = changedInput(native, input)
  if (updatedInput === undefined)
    return blockingReply(`a hook changed this call in a way that Codex cannot carry out: ${message}`)
  return hookReply('PreToolUse', { permissionDecision: 'allow', updatedInput, additionalContext })
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
  const permissionReply = (decision: object) => hookReply('PermissionRequest', { decision })
  if (kind === 'block' || kind === 'ask') return permissionReply({ behavior: 'deny', message })
  return kind === 'grant' ? permissionReply({ behavior: 'allow' }) : silentReply
}

/** A block does not undo the call. The model reads the reason instead of the output. */
const postToolUse: Reply = (outcome, native) => {
  const { input, context: additionalContext } = outcome
  if (input === undefined) return addsContext('PostToolUse')(outcome, native)
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
  outcome.kind === 'block' ? blocked(outcome.message) : addsContext('UserPromptSubmit')(outcome, native)

/** The replies in the exact format that Codex honours. */
export const codexReply = replyFrom({
  PreToolUse: preToolUse,
  PermissionRequest: permissionRequest,
  PostToolUse: postToolUse,
  UserPromptSubmit: userPromptSubmit,
  SessionStart: addsContext('SessionStart'),
  SubagentStart: addsContext('SubagentStart'),
  Stop: ({ kind, message }) => (kind === 'block' ? blocked(message) : silentReply),
  PreCompact: ({ kind, message }) =>
    kind === 'block' ? jsonReply({ continue: false, stopReason: message }) : silentReply,
})
