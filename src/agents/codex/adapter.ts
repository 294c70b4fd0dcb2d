import type { CommandAgent, Reading } from '../agent.ts'
import { readPatch } from '../native/apply-patch.ts'
import { readSnake } from '../native/snake-payload.ts'
import { codexEvents } from './events.ts'
import { patchOf } from './patch.ts'
import { codexReply } from './reply.ts'
import { codexTools } from './tools.ts'

/** Codex: command hooks in the family of Claude Code's, with an answer that may hold nothing unknown. */
export const codex: CommandAgent = {
  name: 'codex',
  title: 'Codex',
  checked: '0.166.0',
  proof: 'run',
  transport: 'command',
  events: codexEvents,
  tools: codexTools,
  read(event, native) {
    const reading = readSnake(event, native, { tools: codexTools, turn: 'turn_id' })
    const patch = patchOf(native)
    return patch === undefined ? reading : withPatch(reading, patch)
  },
  reply: codexReply,
}

function withPatch({ payload, envelope }: Reading, patch: string): Reading {
  return { payload: { ...payload, ...readPatch(patch) }, envelope }
}
