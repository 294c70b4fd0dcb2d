import type { Decision } from '../engine/core/decision.ts'
import type { DispatchOptions } from '../engine/dispatch/dispatch-event.ts'
import type { Hooks } from '../engine/dispatch/hooks.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Given, readEnvelope, readPayload, type Who } from './payload.ts'

/** What a command that sends an event is told on the command line. */
export const eventArgs = {
  event: { type: 'positional', description: 'the event, by any of its names', required: true },
  payload: { type: 'string', description: 'JSON object; stdin otherwise' },
  tool: { type: 'string', description: 'tool name' },
  input: { type: 'string', description: 'tool input as JSON' },
  session: { type: 'string', description: 'session id' },
  agent: { type: 'string', description: 'agent name' },
} as const

/** Sends an event whose name and payload are text: the engine and not the compiler checks them. */
export function send(
  hooks: Hooks,
  event: string,
  given: Given & Who,
  options?: DispatchOptions,
): Promise<Decision> {
  return hooks.dispatch(event as 'pre_tool_use', readPayload(given) as never, readEnvelope(given), options)
}

export function exitCodeOf({ kind }: Pick<Decision, 'kind'>): ExitCode {
  if (kind === 'block') return exitCodes.blocked
  return kind === 'ask' ? exitCodes.asks : exitCodes.ok
}
