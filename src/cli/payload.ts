import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isRecord } from '../engine/core/check.ts'
import type { Envelope } from '../engine/core/context.ts'
import { HookError } from '../engine/core/error.ts'
import { parseJson } from '../safe/json.ts'

export interface Given {
  readonly payload?: string | undefined
  readonly tool?: string | undefined
  readonly input?: string | undefined
}

/** The payload from `--payload`, else from stdin, with `--tool` and `--input` laid over it. */
export function readPayload(given: Given): Record<string, unknown> {
  const { payload: text = given.tool === undefined ? fromStdin() : '{}', tool, input } = given
  const payload = asObject(parseJson(text), 'the payload')
  return {
    ...payload,
    ...(tool === undefined ? {} : { tool_name: tool, tool_input: {} }),
    ...(input === undefined ? {} : { tool_input: asObject(parseJson(input), '--input') }),
  }
}

function fromStdin(): string {
  if (process.stdin.isTTY) {
    throw new HookError('input.empty', 'no payload', {
      hint: 'Pipe JSON in, or give --payload or --tool and --input.',
    })
  }
  return readFileSync(0, 'utf8')
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new HookError('input.schema', `${what} must be a JSON object`)
}

export interface Who {
  readonly cwd?: string | undefined
  readonly session?: string | undefined
  readonly agent?: string | undefined
}

/** Who is asking, as far as the command line says. */
export function readEnvelope(given: Who): Envelope {
  const { cwd = '.', session, agent } = given
  return {
    cwd: resolve(cwd),
    host: 'hookhelm-cli',
    ...(session === undefined ? {} : { session }),
    ...(agent === undefined ? {} : { agent }),
  }
}
