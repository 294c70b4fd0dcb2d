import { isRecord } from '../../engine/core/schema/check.ts'
import type { ClientOutcome, NativePayload, ProcessReply } from '../agent-adapter.ts'
import { jsonReply } from '../translate/process-reply.ts'
import { lookUp, toNative } from '../translate/tool-names.ts'
import { cursorArguments } from './payload.ts'
import { cursorTools } from './tools.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => object

const NOTHING = {}

const denied = (message: string) => ({ permission: 'deny', user_message: message, agent_message: message })

const permission: Reply = ({ kind, message }) => {
  if (kind === 'block') return denied(message)
  if (kind === 'ask') return { permission: 'ask', user_message: message, agent_message: message }
  return kind === 'grant' ? { permission: 'allow' } : NOTHING
}

/** Events where Cursor accepts `ask` but does not ask. */
const strict: Reply = (outcome, native) =>
  permission(outcome.kind === 'ask' ? { ...outcome, kind: 'block' } : outcome, native)

/** Cursor documents a rewrite only together with an allow. */
const preToolUse: Reply = (outcome, native) => {
  const { kind, input: patch, message } = outcome
  if (kind === 'block' || kind === 'ask' || patch === undefined) return strict(outcome, native)
  if (!isRecord(patch)) return denied(`a hook changed the arguments into something else: ${message}`)
  const input = toNative(cursorTools, String(native.tool_name), patch, cursorArguments(native))
  return { permission: 'allow', updated_input: input }
}

const added: Reply = ({ context }) => (context === undefined ? NOTHING : { additional_context: context })

const replies: Readonly<Record<string, Reply>> = {
  preToolUse,
  beforeMCPExecution: permission,
  beforeShellExecution: permission,
  beforeReadFile: strict,
  beforeTabFileRead: strict,
  subagentStart: strict,
  postToolUse: added,
  sessionStart: added,
  beforeSubmitPrompt: ({ kind, message }) =>
    kind === 'block' ? { continue: false, user_message: message } : NOTHING,
  stop: ({ kind, message }) => (kind === 'block' ? { followup_message: message } : NOTHING),
}

/**
 * The reply in the exact format that Cursor documents for this event. No objection is an empty object, because a
 * fail-closed entry may treat missing output as a failure.
 */
export function cursorReply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply {
  return jsonReply(lookUp(replies, event)?.(outcome, native) ?? NOTHING)
}
