import { codingAgent } from '../../engine/core/coding-agents.ts'
import type { CommandAgentAdapter, NativePayload } from '../agent-adapter.ts'
import { readSnakePayload } from '../translate/snake-payload.ts'
import { claudeCodeEvents } from './events.ts'
import { claudeCodeReply } from './reply.ts'

/** Claude Code: command hooks that read JSON from stdin and reply with JSON on stdout. */
export const claudeCodeAdapter: CommandAgentAdapter = {
  ...codingAgent('claude-code'),
  checked: '2.1.325',
  proof: 'run',
  transport: 'command',
  events: claudeCodeEvents,
  // Hookhelm uses Claude Code's tool names.
  tools: {},
  unmappedTools: [],
  read: (event, native: NativePayload) => readSnakePayload(event, native, { tools: {}, turn: 'prompt_id' }),
  reply: claudeCodeReply,
}
