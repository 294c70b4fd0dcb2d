import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { nearest } from '../../engine/core/nearest.ts'
import { readSchema } from '../../engine/core/schema.ts'
import type { ResolveName } from '../../engine/events/names.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { builtInHandlers } from '../../handlers/handlers.ts'
import { checkConditions } from './check-conditions.ts'
import { type Found, foundProblem } from './issues.ts'

export interface HookChecks {
  readonly resolve: ResolveName
  /**
   * The handlers that will run the hooks. Without them the built-in handlers check the configs of their hooks, and other
   * handler types are accepted.
   */
  readonly handlers: ReadonlyMap<string, Handler> | undefined
}

type Raw = Readonly<Record<string, unknown>>

/** What the shape of a hook cannot say, for every hook there is, however broken its neighbours are. */
export function checkHooks(hooks: unknown, checks: HookChecks): Found[] {
  if (!Array.isArray(hooks)) return []
  const raws: readonly unknown[] = hooks
  const each = raws.flatMap((raw, index) =>
    isRecord(raw)
      ? checkHook(raw, checks).map((found) => ({ ...found, path: ['hooks', index, ...found.path] }))
      : [],
  )
  return [...each, ...duplicates(raws)]
}

function checkHook(raw: Raw, checks: HookChecks): Found[] {
  return [
    ...caught(
      ['event'],
      () => typeof raw.event === 'string' && raw.event !== '' && checks.resolve(raw.event),
    ),
    ...checkConditions(raw),
    ...checkConfig(raw, checks),
    ...checkScope(raw),
  ]
}

/** The coded error that a check throws, at this path. */
export function caught(path: Found['path'], check: () => unknown): Found[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof HookError) return [{ path, part: 'value', error }]
    throw error
  }
}

function checkConfig(raw: Raw, { handlers }: HookChecks): Found[] {
  const { handler_type: type, config } = raw
  if (typeof type !== 'string' || type === '') return []
  const handler = (handlers ?? builtInHandlers()).get(type)
  if (handler === undefined) return handlers === undefined ? [] : [unknownHandler(type, handlers)]
  const { value, problems } =
    handler.schema === undefined ? { value: config, problems: [] } : readSchema(handler.schema, config ?? {})
  if (problems.length > 0) return problems.map((problem) => foundProblem(problem, ['config']))
  // The other fields of the hook are checked beside this; a handler that reads a bad one throws a coded error.
  return caught(['config'], () => handler.read(value, raw as unknown as HookDefinition)).map(placed)
}

/** Handlers name a field of the config as `config.url`. Another field of the hook may be missing, so its type is shown. */
function placed(found: Found): Found {
  const [root, ...rest] = found.error.at?.split('.') ?? []
  if (root === undefined) return found
  return { ...found, path: root === 'config' ? ['config', ...rest] : ['handler_type'] }
}

function unknownHandler(type: string, handlers: ReadonlyMap<string, Handler>): Found {
  const near = nearest(type, handlers.keys())
  const options = near === undefined ? {} : { hint: `Did you mean ${near}?` }
  const message = `no handler for handler_type ${type.slice(0, 80)}`
  return {
    path: ['handler_type'],
    part: 'value',
    error: new HookError('config.unknown_handler', message, options),
  }
}

function checkScope({ scope, agent_ids }: Raw): Found[] {
  if (scope !== 'agent' || (Array.isArray(agent_ids) && agent_ids.length > 0)) return []
  const error = new HookError('config.field', 'scope agent needs at least one agent in agent_ids')
  return [{ path: ['scope'], part: 'value', error }]
}

function duplicates(hooks: readonly unknown[]): Found[] {
  const first = new Map<string, number>()
  return hooks.flatMap((hook, index): Found[] => {
    const id = isRecord(hook) ? hook.id : undefined
    if (typeof id !== 'string') return []
    const earlier = first.get(id)
    if (earlier === undefined) {
      first.set(id, index)
      return []
    }
    const message = `hook ${earlier + 1} of the file already has the id ${id.slice(0, 80)}`
    return [
      {
        path: ['hooks', index, 'id'],
        part: 'value',
        error: new HookError('config.duplicate_id', message, { hint: 'Give every hook an id of its own.' }),
      },
    ]
  })
}
