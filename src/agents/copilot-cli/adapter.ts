import { codingAgent } from '../../engine/core/coding-agents.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { CommandAgentAdapter, NativePayload } from '../agent-adapter.ts'
import { readPatch } from '../translate/apply-patch.ts'
import { textField } from '../translate/read-fields.ts'
import { readSnakePayload } from '../translate/snake-payload.ts'
import { lookUp } from '../translate/tool-names.ts'
import { copilotCliEvents } from './events.ts'
import { asSnake, copilotArguments } from './payload.ts'
import { copilotCliReply } from './reply.ts'
import { claudeNamedTools, copilotCliTools, copilotCliUnmappedTools } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Copilot CLI: command hooks in two formats. `connect` registers the camelCase one: it has every event, and the tool
 * names and arguments that a rewrite needs.
 */
export const copilotCliAdapter: CommandAgentAdapter = {
  ...codingAgent('copilot-cli'),
  checked: '1.0.102',
  proof: 'run',
  transport: 'command',
  events: copilotCliEvents,
  tools: copilotCliTools,
  unmappedTools: copilotCliUnmappedTools,
  read(event, native) {
    const tools = 'toolName' in native ? copilotCliTools : claudeNamedTools
    const snake = asSnake(native)
    const read = readSnakePayload(event, { ...snake, ...wrapped(native) }, { tools })
    const { lane, ...envelope } = { ...read.envelope, raw: native }
    const parent = parentOf(native)
    return {
      payload: { ...read.payload, ...patchCall(native), ...lookUp(views, kindOf(event))?.(snake) },
      // A sub-agent has its own session, with its own name as the id.
      envelope: lane === undefined || lane === envelope.session ? envelope : { ...envelope, lane },
      ...definedFields({ parentSession: parent }),
    }
  },
  momentOf({ timestamp }) {
    const moment = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp
    return typeof moment === 'number' && Number.isFinite(moment) ? moment : undefined
  },
  reply: copilotCliReply,
}

function wrapped(native: NativePayload): Fields {
  const given = copilotArguments(native)
  return typeof given === 'string' ? { tool_input: { input: given } } : {}
}

/** The canonical call of a patch, which is a single text. */
function patchCall(native: NativePayload): Fields {
  const given = copilotArguments(native)
  return native.toolName === 'apply_patch' && typeof given === 'string' ? readPatch(given) : {}
}

function parentOf(native: NativePayload): string | undefined {
  const agent = textField(native, 'agentId')
  return agent !== undefined && agent === textField(native, 'sessionId')
    ? textField(native, 'parentAgentId')
    : undefined
}

type View = (native: Fields) => Fields

const views: Readonly<Record<string, View>> = {
  session_start: ({ source }) => (source === 'new' ? { source: 'startup' } : {}),
  stop_failure: ({ error }) =>
    isRecord(error) && typeof error.message === 'string'
      ? { error: error.message, error_details: error }
      : {},
  subagent_start: ({ agent_type, agent_name }) => ({ agent_type: agent_type ?? agent_name }),
  subagent_stop: ({ agent_type, agent_name }) => ({ agent_type: agent_type ?? agent_name }),
}

function kindOf(event: string): string {
  return lookUp(copilotCliEvents, event)?.event ?? ''
}
