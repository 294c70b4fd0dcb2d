import type { Decision } from '../engine/core/decision.ts'
import { command } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { withLocal } from './local.ts'
import { print } from './output.ts'
import { readEnvelope, readPayload } from './payload.ts'

export const eventArgs = {
  event: { type: 'positional', description: 'the event, by any of its names', required: true },
  payload: { type: 'string', description: 'JSON object; stdin otherwise' },
  tool: { type: 'string', description: 'tool name' },
  input: { type: 'string', description: 'tool input as JSON' },
  session: { type: 'string', description: 'session id' },
  agent: { type: 'string', description: 'agent name' },
} as const

export const dispatchCommand = command({
  name: 'dispatch',
  about: 'Send an event through the hooks; the decision comes out as JSON',
  args: eventArgs,
  run: (args) =>
    withLocal(args, async ({ hooks }) => {
      // Names come from the command line, so the engine and not the compiler checks them.
      const decision = await hooks.dispatch(
        args.event as 'pre_tool_use',
        readPayload(args) as never,
        readEnvelope(args),
      )
      await hooks.drain()
      print(decision)
      return exitCodeOf(decision)
    }),
})

export function exitCodeOf({ kind }: Pick<Decision, 'kind'>): ExitCode {
  if (kind === 'block') return exitCodes.blocked
  return kind === 'ask' ? exitCodes.asks : exitCodes.ok
}
