import type { CelInput } from '@bufbuild/cel'
import { isRecord } from '../../core/check.ts'
import type { MatchInput } from '../matcher.ts'
import { readOutcome } from '../outcome.ts'
import type { Library } from './load.ts'
import { cutText, toCel } from './to-cel.ts'

interface Variable {
  readonly type: 'string' | 'int' | 'map' | 'dyn'
  readonly read: (input: MatchInput) => unknown
}

const fromEnvelope = (key: 'agent' | 'agentId' | 'session' | 'run' | 'turn' | 'tenant' | 'host' | 'cwd') =>
  textOf(({ envelope }) => envelope[key])
const fromPayload = (key: string) => textOf(({ payload }) => ownOf(payload, key))

/** What an `if_expr` may name. Each is bound on every event: a missing text is empty, a missing map has no keys. */
export const variables: ReadonlyMap<string, Variable> = new Map<string, Variable>([
  ['event', textOf(({ event }) => event)],
  ['tool_name', fromPayload('tool_name')],
  ['tool_input', { type: 'map', read: ({ payload }) => recordOf(ownOf(payload, 'tool_input')) }],
  ['tool_response', { type: 'dyn', read: ({ payload }) => ownOf(payload, 'tool_response') }],
  ['prompt', fromPayload('prompt')],
  ['error', fromPayload('error')],
  ['outcome', textOf(readOutcome)],
  ['depth', { type: 'int', read: ({ envelope }) => Math.trunc(envelope.depth ?? 0) || 0 }],
  ['agent', fromEnvelope('agent')],
  ['agent_id', fromEnvelope('agentId')],
  ['session', fromEnvelope('session')],
  ['run', fromEnvelope('run')],
  ['turn', fromEnvelope('turn')],
  ['tenant', fromEnvelope('tenant')],
  ['host', fromEnvelope('host')],
  ['cwd', fromEnvelope('cwd')],
  ['payload', { type: 'map', read: ({ payload }) => recordOf(payload) }],
])

/** Binds the named variables and no others. No prototype: `constructor` must not resolve. */
export function bind(
  library: Library,
  names: Iterable<string>,
  input: MatchInput,
): Readonly<Record<string, CelInput>> {
  const bound: Record<string, CelInput> = Object.create(null)
  for (const name of names) {
    const value = variables.get(name)?.read(input)
    bound[name] = typeof value === 'string' ? cutText(value) : (toCel(library, value) ?? null)
  }
  return bound
}

function textOf(read: (input: MatchInput) => unknown): Variable {
  return {
    type: 'string',
    read: (input) => {
      const value = read(input)
      return typeof value === 'string' ? value : ''
    },
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function ownOf(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
