import { isRecord } from '../engine/core/schema/check.ts'
import type { AgentAdapter, ClientOutcome, CommandAgentAdapter, NativePayload } from './agent-adapter.ts'
import { claudeCodeAdapter } from './claude-code/adapter.ts'
import { copilotCliAdapter } from './copilot-cli/adapter.ts'
import { cursorAdapter } from './cursor/adapter.ts'
import { parseJsonOrUndefined } from './translate/read-fields.ts'
import { lookUp } from './translate/tool-names.ts'

/** The agent that sent an event, and the name that it has for the event. */
export interface CallingAgent {
  readonly agent: AgentAdapter
  readonly event: string
}

/** Claude Code's name of an event → Cursor's. */
const cursorNames: Readonly<Record<string, string>> = {
  PreToolUse: 'preToolUse',
  PostToolUse: 'postToolUse',
  PostToolUseFailure: 'postToolUseFailure',
  UserPromptSubmit: 'beforeSubmitPrompt',
  SessionStart: 'sessionStart',
  SessionEnd: 'sessionEnd',
  Stop: 'stop',
  SubagentStart: 'subagentStart',
  SubagentStop: 'subagentStop',
  PreCompact: 'preCompact',
}

/**
 * Copilot CLI and Cursor also run the hooks of Claude Code's settings, and their payloads differ from Claude Code's. The
 * environment cannot tell them apart: an agent that another agent started inherits its variables.
 */
export function identifyAgent(connected: AgentAdapter, event: string, native: NativePayload): CallingAgent {
  if (connected.name !== claudeCodeAdapter.name) return { agent: connected, event }
  if (isFromCursor(native))
    return { agent: withClaudeReplies(cursorAdapter, event), event: lookUp(cursorNames, event) ?? event }
  if (isFromCopilot(native)) return { agent: withClaudeReplies(copilotCliAdapter, event), event }
  return { agent: connected, event }
}

function isFromCursor(native: NativePayload): boolean {
  return typeof native.cursor_version === 'string' || typeof native.conversation_id === 'string'
}

/** Claude Code sends neither a timestamp nor keys in camelCase. */
function isFromCopilot(native: NativePayload): boolean {
  if (typeof native.sessionId === 'string') return true
  return typeof native.timestamp === 'string' && native.permission_mode === undefined
}

/** A refusal also holds Claude Code's fields: the call stays blocked if the caller was taken for another agent. */
function withClaudeReplies(agent: CommandAgentAdapter, claudeEvent: string): CommandAgentAdapter {
  return {
    ...agent,
    reply(event: string, outcome: ClientOutcome, native: NativePayload) {
      const own = agent.reply(event, outcome, native)
      if (outcome.kind !== 'block' && outcome.kind !== 'ask') return own
      const { input: _, ...refusal } = outcome
      const claude = claudeCodeAdapter.reply(claudeEvent, refusal, native)
      const [ownFields, claudeFields] = [own, claude].map(({ stdout }) =>
        parseJsonOrUndefined(stdout || '{}'),
      )
      if (own.exit !== 0 || claude.exit !== 0 || !isRecord(ownFields) || !isRecord(claudeFields)) return own
      const both = { ...claudeFields, ...ownFields }
      return Object.keys(both).length === 0 ? own : { ...own, stdout: JSON.stringify(both) }
    },
  }
}
