import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import {
  fieldsReply,
  jsonReply,
  outputText,
  type Reply,
  replyFrom,
  silentReply,
} from '../translate/process-reply.ts'
import { toNative } from '../translate/tool-names.ts'
import { ownEventName } from './events.ts'
import { copilotArguments } from './payload.ts'
import { claudeNamedTools, copilotCliTools } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>

/** Both formats honour a top-level decision. Under a camelCase key, Copilot CLI ignores Claude Code's wrapper. */
const preToolUse: Reply = ({ kind, message, input }, native) => {
  const decision = { pass: undefined, grant: 'allow', ask: 'ask', block: 'deny' }[kind]
  const changed = input === undefined ? undefined : changedArguments(native, input)
  if (input !== undefined && changed === undefined)
    return jsonReply({
      permissionDecision: 'deny',
      permissionDecisionReason: `a hook changed this call in a way that Copilot CLI cannot carry out: ${message}`,
    })
  return fieldsReply({
    permissionDecision: decision,
    permissionDecisionReason: decision && message,
    modifiedArgs: changed,
  })
}

/** The field takes an object, so only named arguments can be changed. */
function changedArguments(native: NativePayload, input: unknown): Fields | undefined {
  const original = copilotArguments(native)
  if (!isRecord(input) || typeof original === 'string') return undefined
  return 'toolName' in native
    ? toNative(copilotCliTools, String(native.toolName), input)
    : toNative(claudeNamedTools, String(native.tool_name), input)
}

const permissionRequest: Reply = ({ kind, message }) => {
  if (kind === 'block' || kind === 'ask') return jsonReply({ behavior: 'deny', message })
  return kind === 'grant' ? jsonReply({ behavior: 'allow' }) : silentReply
}

const postToolUse: Reply = ({ input, context }) => {
  // Copilot CLI treats a result of another type as a failure.
  const result = { resultType: 'success', textResultForLlm: outputText(input) }
  return fieldsReply({
    modifiedResult: input === undefined ? undefined : result,
    additionalContext: context,
  })
}

const userPromptSubmitted: Reply = ({ kind, message, input, context }) => {
  const block = (reason: string) => jsonReply({ decision: 'block', reason })
  if (kind === 'block') return block(message)
  // Copilot CLI rejects an empty prompt and continues with the original.
  if (input !== undefined && (typeof input !== 'string' || input === ''))
    return block(`a hook left nothing of this prompt: ${message}`)
  return fieldsReply({ modifiedPrompt: input, additionalContext: context })
}

const stop: Reply = ({ kind, message }) =>
  kind === 'block' ? jsonReply({ decision: 'block', reason: message }) : silentReply

const context: Reply = (outcome) => fieldsReply({ additionalContext: outcome.context })

const reply = replyFrom({
  preToolUse,
  permissionRequest,
  postToolUse,
  postToolUseFailure: context,
  userPromptSubmitted,
  sessionStart: context,
  agentStop: stop,
  subagentStart: context,
  notification: context,
})

/** The replies in the exact format that Copilot CLI honours. */
export const copilotCliReply: typeof reply = (event, outcome, native) =>
  reply(ownEventName(event), outcome, native)
