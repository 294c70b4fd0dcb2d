import { isRecord } from '../../engine/core/check.ts'
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

/** Where an ask is taken and nobody is asked. */
const strict: Reply = (outcome, native) =>
  permission(outcome.kind === 'ask' ? { ...outcome, kind: 'block' } : outcome, native)

/** As its documentation shows a rewrite: together with an allow. */
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
 * In exactly the shape that Cursor documents for this event. Nothing to say is an empty object: an entry that fails closed
 * may take no output at all for a failure.
 */
export function cursorReply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply {
  return jsonReply(lookUp(replies, event)?.(outcome, native) ?? NOTHING)
}
