import { HookError } from '../../engine/core/errors/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { readSchema, type SchemaPath } from '../../engine/core/schema/schema.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import type { ResolveEventName } from '../../engine/events/event-names.ts'
import type { HookDefinition, HookOptions } from '../../engine/hook-definition.ts'
import { compileMatcher } from '../../engine/match/matcher.ts'
import { builtInHandlers } from '../../handlers/handlers.ts'
import { fromSchemaProblem, type ValueProblem, valueProblem } from './value-problem.ts'

/** What `checkHooks` checks against. */
export interface HookChecks {
  readonly resolve: ResolveEventName
  /**
   * The handlers that will run the hooks. Without them the built-in handlers check the configs of their hooks, and other
   * handler types are accepted.
   */
  readonly handlers: ReadonlyMap<string, Handler> | undefined
}

type Raw = Readonly<Record<string, unknown>>

/**
 * Checks what the schema of a hook cannot: events, conditions, the config of each handler, scopes and duplicate ids. It
 * checks every hook, even if others are malformed.
 */
export function checkHooks(hooks: unknown, checks: HookChecks): ValueProblem[] {
  if (!Array.isArray(hooks)) return []
  const raws: readonly unknown[] = hooks
  const each = raws.flatMap((raw, index) =>
    isRecord(raw)
      ? checkHook(raw, checks).map((problem) => ({ ...problem, path: ['hooks', index, ...problem.path] }))
      : [],
  )
  return [...each, ...duplicateIds(raws)]
}

function checkHook(raw: Raw, checks: HookChecks): ValueProblem[] {
  return [
    ...catchProblem(
      ['event'],
      () => typeof raw.event === 'string' && raw.event !== '' && checks.resolve(raw.event),
    ),
    ...checkConditions(raw),
    ...checkConfig(raw, checks),
    ...checkScope(raw),
  ]
}

/** Runs a check and reports the coded error that it throws as a problem of this path. */
function catchProblem(path: SchemaPath, check: () => unknown): ValueProblem[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof HookError) return [{ path, part: 'value', error }]
    throw error
  }
}

function checkConfig(raw: Raw, { handlers }: HookChecks): ValueProblem[] {
  const { handler_type: type, config } = raw
  if (typeof type !== 'string' || type === '') return []
  const handler = (handlers ?? builtInHandlers()).get(type)
  if (handler === undefined) return handlers === undefined ? [] : [unknownHandler(type, handlers)]
  const { value, problems } =
    handler.schema === undefined ? { value: config, problems: [] } : readSchema(handler.schema, config ?? {})
  if (problems.length > 0) return problems.map((problem) => fromSchemaProblem(problem, ['config']))
  // The other fields may be invalid; a handler that reads one of them throws a coded error.
  return catchProblem(['config'], () => handler.read(value, raw as unknown as HookDefinition)).map(
    withConfigPath,
  )
}

/** Handlers name a field of the config as `config.url`. If another field of the hook is missing, its type is shown. */
function withConfigPath(problem: ValueProblem): ValueProblem {
  const [root, ...rest] = problem.error.at?.split('.') ?? []
  if (root === undefined) return problem
  return { ...problem, path: root === 'config' ? ['config', ...rest] : ['handler_type'] }
}

function unknownHandler(type: string, handlers: ReadonlyMap<string, Handler>): ValueProblem {
  const near = nearest(type, handlers.keys())
  const options = near === undefined ? {} : { hint: `Did you mean ${near}?` }
  const message = `no handler for handler_type ${type.slice(0, 80)}`
  return valueProblem(['handler_type'], message, 'config.unknown_handler', options)
}

function checkScope({ scope, agent_ids }: Raw): ValueProblem[] {
  if (scope !== 'agent' || (Array.isArray(agent_ids) && agent_ids.length > 0)) return []
  return [valueProblem(['scope'], 'scope agent needs at least one agent in agent_ids')]
}

function duplicateIds(hooks: readonly unknown[]): ValueProblem[] {
  const first = new Map<string, number>()
  return hooks.flatMap((hook, index): ValueProblem[] => {
    const id = isRecord(hook) ? hook.id : undefined
    if (typeof id !== 'string') return []
    const earlier = first.get(id)
    if (earlier === undefined) {
      first.set(id, index)
      return []
    }
    const message = `hook ${earlier + 1} of the file already has the id ${id.slice(0, 80)}`
    const hint = 'Give every hook an id of its own.'
    return [valueProblem(['hooks', index, 'id'], message, 'config.duplicate_id', { hint })]
  })
}

/** Compiles each condition separately, so that a bad `matcher` does not hide a bad `if_expr`. The schema reports other types. */
function checkConditions({ event, matcher, if_expr, match }: Raw): ValueProblem[] {
  const { glob, names } = isRecord(match) ? match : {}
  const areTexts = Array.isArray(names) && names.every((item) => typeof item === 'string')
  return [
    ...(isText(matcher) ? compileProblem(event, { matcher }, ['matcher']) : []),
    ...(isText(if_expr) ? compileProblem(event, { if_expr }, ['if_expr']) : []),
    ...(isText(glob) ? compileProblem(event, { match: { glob } }, ['match', 'glob']) : []),
    ...(areTexts ? compileProblem(event, { match: { names } }, ['match', 'names']) : []),
  ]
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Conditions that are known to compile. Compiling takes longer than all other checks, and a reload changes few of them. */
const compiling = new Set<string>()
const MAX_COMPILING = 20_000

function compileProblem(event: unknown, options: HookOptions, path: SchemaPath): ValueProblem[] {
  const source = JSON.stringify(options)
  if (compiling.has(source)) return []
  try {
    compileMatcher(options, String(event))
    if (compiling.size >= MAX_COMPILING) compiling.clear()
    compiling.add(source)
    return []
  } catch (error) {
    if (!(error instanceof HookError)) throw error
    const { cause } = error
    // The cause does not repeat the hook, which line and pointer already identify.
    return [
      { ...positionOf(path, error.at), part: 'value', error: cause instanceof HookError ? cause : error },
    ]
  }
}

/** Reads `at` of a matcher error: `matcher:12`, `if_expr:2:7` or `match.names.0`. */
function positionOf(path: SchemaPath, at = ''): Pick<ValueProblem, 'path' | 'inside'> {
  const inList = /^match\.names\.(\d+)/.exec(at)
  const inner = inList === null ? path : [...path, Number(inList[1])]
  const lineAndColumn = /:(\d+):(\d+)$/.exec(at)
  if (lineAndColumn !== null)
    return { path: inner, inside: { line: Number(lineAndColumn[1]), column: Number(lineAndColumn[2]) } }
  const offset = /:(\d+)$/.exec(at)
  return offset === null ? { path: inner } : { path: inner, inside: { offset: Number(offset[1]) } }
}
