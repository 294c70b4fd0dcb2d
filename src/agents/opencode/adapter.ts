import { codingAgent } from '../../engine/core/coding-agents.ts'
import type { PluginAgentAdapter } from '../agent-adapter.ts'
import { opencodeEvents } from './events.ts'
import { readOpencode } from './read.ts'
import { opencodeReply } from './reply.ts'
import { opencodeTools, opencodeUnmappedTools } from './tools.ts'

/** OpenCode: a plugin inside its process, whose hooks change their arguments or throw. */
export const opencodeAdapter: PluginAgentAdapter = {
  ...codingAgent('opencode'),
  checked: '1.18.33',
  proof: 'run',
  transport: 'plugin',
  events: opencodeEvents,
  tools: opencodeTools,
  unmappedTools: opencodeUnmappedTools,
  read: readOpencode,
  reply: opencodeReply,
}
