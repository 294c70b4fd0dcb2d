import type { ArgsDef } from 'citty'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { Schema } from '../../engine/core/schema/schema.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import type { Method } from '../../methods/method.ts'
import { parseJson } from '../../safe/json.ts'
import { fromStdin } from './data.ts'
import { readInstant } from './read-instant.ts'

/** How one parameter is written on the command line. */
interface Flag {
  readonly param: string
  /** `hook-id` for `hookId`. */
  readonly name: string
  readonly kind: 'text' | 'number' | 'time' | 'flag' | 'list' | 'json'
  /** Path parameters are positional and required; all others are flags. */
  readonly isPositional: boolean
  readonly isRequired: boolean
  readonly about: string
}

/** Parameters that are positional although their method has a default for them. */
const optionalWords: Readonly<Record<string, string>> = { 'runs.start': 'agent_name' }

/** One flag per parameter of a method, except parameters that only the gateway sets. */
export function flagsOf({ name: method, params, rest }: Method): readonly Flag[] {
  const inPath = [...rest.path.matchAll(/:(\w+)/g)].map(([, name]) => name)
  return Object.entries(params.fields)
    .map(([param, schema]) => ({
      param,
      name: kebab(param),
      kind: kindOf(schema),
      isPositional: inPath.includes(param) || optionalWords[method] === param,
      isRequired: inPath.includes(param),
      about: aboutOf(schema),
    }))
    .filter(({ about }) => !about.endsWith('ignored.'))
}

export function argsOf(flags: readonly Flag[]): ArgsDef {
  return Object.fromEntries(
    flags.map(({ name, kind, isPositional, isRequired, about }) => {
      if (isPositional) return [name, { type: 'positional', description: about, required: isRequired }]
      const type = kind === 'flag' ? 'boolean' : 'string'
      const description = [kind === 'time' ? '' : about, forms[kind] ?? '']
      return [name, { type, description: description.filter((part) => part !== '').join(' ') }]
    }),
  )
}

const forms: Readonly<Partial<Record<Flag['kind'], string>>> = {
  json: 'JSON',
  list: 'separated by commas',
  time: '30m, 2h or 3d ago, or an instant such as 2026-08-01T12:30',
}

/** The given values, keyed by parameter name. */
export function paramsOf(
  flags: readonly Flag[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    flags.flatMap((flag) => {
      const value = given[flag.name]
      return value === undefined ? [] : [[flag.param, typed(flag, value)]]
    }),
  )
}

/** `-` reads the value from stdin, so that a secret does not show up in the process list. */
function typed({ name, kind }: Flag, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const text = value === '-' ? fromStdin().replace(/\r?\n$/, '') : value
  if (kind === 'json') return jsonOf(text, name)
  if (kind === 'time') return readInstant(name, text, systemClock.now())
  if (kind === 'list') return text.split(',').map((item) => item.trim())
  // Text that is not a number stays text, and the gateway rejects it with a reason.
  return kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

function jsonOf(text: string, name: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw handlerError('input.json', `--${name} is not JSON`, { cause })
  }
}

function kindOf(node: Schema): Flag['kind'] {
  switch (node.kind) {
    case 'text':
    case 'choice':
    case 'scalar':
      return 'text'
    case 'number':
      return node.format !== undefined ? 'time' : 'number'
    case 'integer':
      return 'number'
    case 'boolean':
      return 'flag'
    case 'list':
      return kindOf(node.item) === 'text' ? 'list' : 'json'
    case 'nullable':
      return kindOf(node.value)
    case 'union':
      return node.options.map(kindOf).find((kind) => kind !== 'json') ?? 'json'
    default:
      return 'json'
  }
}

function aboutOf({ about = '', ...node }: Schema): string {
  const values = node.kind === 'choice' ? [...node.values, ...Object.keys(node.aliases ?? {})].join(', ') : ''
  return [about, values].filter((part) => part !== '').join(' ')
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')
}
