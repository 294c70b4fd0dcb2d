import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { DispatchOptions } from '../../engine/dispatch/dispatch-event.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import { parseJson } from '../../safe/json.ts'
import { type ExitCode, exitCodes, type Flags } from '../command.ts'

/** The flags that describe a payload. */
export const payloadArgs = {
  payload: { type: 'string', description: 'payload as a JSON object (default: stdin)' },
  tool: { type: 'string', description: 'tool name' },
  input: { type: 'string', description: 'tool input as JSON' },
} as const

/** The arguments of a command that sends an event. */
export const eventArgs = {
  event: { type: 'positional', description: 'event name or alias', required: true },
  ...payloadArgs,
  session: { type: 'string', description: 'session id' },
  agent: { type: 'string', description: 'agent name' },
} as const

/** The values of these flags. */
export type EventArgs = Flags<'payload' | 'tool' | 'input' | 'cwd' | 'session' | 'agent'>

/** Dispatches an event from the command line. Its name and payload are untyped text, which the engine checks. */
export function sendEvent(
  hooks: Hooks,
  event: string,
  payload: unknown,
  from: EventArgs,
  options?: DispatchOptions,
): Promise<Decision> {
  return hooks.dispatch(event as 'pre_tool_use', payload as never, cliEnvelope(from), options)
}

export function exitCodeOf({ kind }: Pick<Decision, 'kind'>): ExitCode {
  if (kind === 'block') return exitCodes.blocked
  return kind === 'ask' ? exitCodes.asks : exitCodes.ok
}

/** Reads `--payload` or else stdin; `--tool` and `--input` override its fields. */
export function readPayloadArgs({ payload: given, tool, input }: EventArgs): Record<string, unknown> {
  const text = given ?? (tool === undefined ? readStdin() : '{}')
  const payload = requireObject(parseJson(text), 'the payload')
  return {
    ...payload,
    ...(tool === undefined ? {} : { tool_name: tool, tool_input: {} }),
    ...(input === undefined ? {} : { tool_input: requireObject(parseJson(input), '--input') }),
  }
}

function readStdin(): string {
  if (process.stdin.isTTY) {
    throw handlerError('input.empty', 'no payload', {
      hint: 'Pipe JSON in, or give --payload or --tool and --input.',
    })
  }
  return readFileSync(0, 'utf8')
}

function requireObject(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new HookError('input.schema', `${what} must be a JSON object`)
}

export function cliEnvelope({ cwd = '.', session, agent }: EventArgs): Envelope {
  return {
    cwd: resolve(cwd),
    host: 'hookhelm-cli',
    ...definedFields({ session, agent }),
  }
}
