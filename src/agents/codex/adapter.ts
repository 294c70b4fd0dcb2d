import { codingAgent } from '../../engine/core/coding-agents.ts'
import type { CommandAgentAdapter, NativeReading } from '../agent-adapter.ts'
import { readPatch } from '../translate/apply-patch.ts'
import { readSnakePayload } from '../translate/snake-payload.ts'
import { codexEvents } from './events.ts'
import { codexReply } from './reply.ts'
import { codexPatch, codexTools, codexUnmappedTools } from './tools.ts'

/** Codex: command hooks like Claude Code's. Codex rejects replies with unknown fields. */
export const codexAdapter: CommandAgentAdapter = {
  ...codingAgent('codex'),
  checked: '0.166.0',
  proof: 'run',
  transport: 'command',
  events: codexEvents,
  tools: codexTools,
  unmappedTools: codexUnmappedTools,
  read(event, native) {
    const reading = readSnakePayload(event, native, { tools: codexTools, turn: 'turn_id' })
    const patch = codexPatch(native)
    return patch === undefined ? reading : withPatch(reading, patch)
  },
  reply: codexReply,
}

function withPatch({ payload, envelope }: NativeReading, patch: string): NativeReading {
  return { payload: { ...payload, ...readPatch(patch) }, envelope }
}
