import type { CelInput } from '@bufbuild/cel'
import { isRecord } from '../../core/schema/check.ts'
import type { FileEffect } from '../../core/shell-effects.ts'
import { readOutcome } from '../event-conditions.ts'
import { effectsOf, type MatchInput } from '../match-part.ts'
import type { CelLibrary } from './load-cel.ts'
import { toCel, truncate } from './to-cel.ts'

interface Variable {
  readonly type: 'string' | 'int' | 'map' | 'dyn'
  readonly read: (input: MatchInput) => unknown
}

const fromEnvelope = (key: 'agent' | 'agentId' | 'session' | 'run' | 'turn' | 'tenant' | 'host' | 'cwd') =>
  textVariable(({ envelope }) => envelope[key])
const fromPayload = (key: string) => textVariable(({ payload }) => ownProperty(payload, key))

/** The variables of an `if_expr`. Every event has all of them: a missing text is empty, a missing map has no keys. */
export const celVariables: ReadonlyMap<string, Variable> = new Map<string, Variable>([
  ['event', textVariable(({ event }) => event)],
  ['tool_name', fromPayload('tool_name')],
  ['tool_input', { type: 'map', read: ({ payload }) => recordOrEmpty(ownProperty(payload, 'tool_input')) }],
  ['tool_response', { type: 'dyn', read: ({ payload }) => ownProperty(payload, 'tool_response') }],
  ['prompt', fromPayload('prompt')],
  ['error', fromPayload('error')],
  ['outcome', textVariable(readOutcome)],
  ['depth', { type: 'int', read: ({ envelope }) => Math.trunc(envelope.depth ?? 0) || 0 }],
  ['agent', fromEnvelope('agent')],
  ['agent_id', fromEnvelope('agentId')],
  ['session', fromEnvelope('session')],
  ['run', fromEnvelope('run')],
  ['turn', fromEnvelope('turn')],
  ['tenant', fromEnvelope('tenant')],
  ['host', fromEnvelope('host')],
  ['cwd', fromEnvelope('cwd')],
  ['shell', { type: 'map', read: readShell }],
  ['payload', { type: 'map', read: ({ payload }) => recordOrEmpty(payload) }],
])

/** The keys of `shell`, which an expression must spell as they are. */
export const shellKeys = ['commands', 'writes', 'reads', 'deletes', 'hosts', 'opaque'] as const

/** What the shell lines of the call do; for a call without one, all lists are empty. */
function readShell(input: MatchInput): Readonly<Record<(typeof shellKeys)[number], readonly unknown[]>> {
  const { commands, writes, reads, deletes, hosts, opaque } = effectsOf(input).shell()
  return {
    commands: commands.map(
      ({ program, path = '', subcommand = '', flags, args, via, cwd = '', remote = '' }) => ({
        ...{ program, path, subcommand, flags, via, cwd, remote },
        args: args.map(({ text }) => text),
      }),
    ),
    writes: writes.flatMap(pathsOf),
    reads: reads.flatMap(pathsOf),
    deletes: deletes.flatMap(pathsOf),
    hosts: hosts.map(({ host }) => host),
    opaque: opaque.map(({ reason, detail }) => ({ reason, detail })),
  }
}

function pathsOf({ path, target }: FileEffect): readonly string[] {
  return target === undefined ? [path] : [path, target]
}

/** Reads the named variables. The result has no prototype, so that `constructor` does not resolve. */
export function bindVariables(
  library: CelLibrary,
  names: Iterable<string>,
  input: MatchInput,
): Readonly<Record<string, CelInput>> {
  const bound: Record<string, CelInput> = Object.create(null)
  for (const name of names) {
    const value = celVariables.get(name)?.read(input)
    bound[name] = typeof value === 'string' ? truncate(value) : (toCel(library, value) ?? null)
  }
  return bound
}

function textVariable(read: (input: MatchInput) => unknown): Variable {
  return {
    type: 'string',
    read: (input) => {
      const value = read(input)
      return typeof value === 'string' ? value : ''
    },
  }
}

function recordOrEmpty(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function ownProperty(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
