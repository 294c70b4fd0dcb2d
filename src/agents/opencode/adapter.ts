import type { PluginAgentAdapter } from '../agent-adapter.ts'
import { opencodeEvents } from './events.ts'
import { readOpencode } from './read.ts'
import { opencodeReply } from './reply.ts'
import { opencodeTools, opencodeUnmappedTools } from './tools.ts'

/** OpenCode: a plugin inside its process, whose hooks change their arguments or throw. */
export const opencodeAdapter: PluginAgentAdapter = {
  name: 'opencode',
  title: 'OpenCode',
  checked: '1.18.33',
  proof: 'run',
  transport: 'plugin',
  events: opencodeEvents,
  tools: opencodeTools,
  unmappedTools: opencodeUnmappedTools,
  read: readOpencode,
  reply: opencodeReply,
}
