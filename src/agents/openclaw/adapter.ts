import { codingAgent } from '../../engine/core/coding-agents.ts'
import type { PluginAgentAdapter } from '../agent-adapter.ts'
import { openclawEvents } from './events.ts'
import { readOpenclaw } from './read.ts'
import { openclawReply } from './reply.ts'
import { openclawTools, openclawUnmappedTools } from './tools.ts'

/** OpenClaw: a plugin inside its process, whose hooks return what happens next. */
export const openclawAdapter: PluginAgentAdapter = {
  ...codingAgent('openclaw'),
  checked: '2026.9.6',
  proof: 'run',
  transport: 'plugin',
  events: openclawEvents,
  tools: openclawTools,
  unmappedTools: openclawUnmappedTools,
  read: readOpenclaw,
  reply: openclawReply,
}
