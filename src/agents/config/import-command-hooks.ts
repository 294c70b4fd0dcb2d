import { z } from 'zod'
import {
  canonicalEvent,
  type ImportAttempt,
  type ImportedHook,
  present,
  translateWith,
} from '../../config/formats/import-format.ts'
import type { Policy } from '../../engine/core/event.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookOptions } from '../../engine/hook-definition.ts'
import { readToolPattern } from '../../engine/match/tool-pattern.ts'
import type { CommandHost } from '../agent-host.ts'

/** Translates an agent's parsed configuration into our hooks, or lists its problems. */
export type AgentImporter = (value: unknown) => ImportAttempt

const text = z.string().min(1, 'must not be empty')
/** The fields that the agents share. Unknown fields are ignored. */
const hookSchema = z.looseObject({
  type: z.string().exactOptional(),
  command: text.exactOptional(),
  bash: text.exactOptional(),
  exec: text.exactOptional(),
  args: z.array(z.string()).exactOptional(),
  cwd: z.string().exactOptional(),
  env: z.unknown().exactOptional(),
  url: text.exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  timeout: z.number().positive('must be more than 0').exactOptional(),
  timeoutSec: z.number().positive('must be more than 0 s').exactOptional(),
  matcher: z.string().exactOptional(),
  failClosed: z.boolean().exactOptional(),
})
const groupSchema = z.looseObject({ matcher: z.string().exactOptional(), hooks: z.array(hookSchema) })
const fileSchema = z.looseObject({
  hooks: z.record(z.string(), z.unknown()),
  disableAllHooks: z.boolean().exactOptional(),
})

type CommandHook = z.output<typeof hookSchema>

export interface FailurePolicies {
  readonly on_error: Policy
  readonly on_timeout: Policy
  readonly on_invalid: Policy
}

export const failOpenPolicies: FailurePolicies = {
  on_error: 'allow',
  on_timeout: 'allow',
  on_invalid: 'allow',
}
export const failClosedPolicies: FailurePolicies = {
  on_error: 'block',
  on_timeout: 'block',
  on_invalid: 'block',
}

/** What an import needs to know beyond the agent's host. */
export interface CommandHookImport {
  /** Events that become one of ours with a condition. */
  readonly events?: Readonly<
    Record<string, { readonly event: string; readonly fields: Pick<HookOptions, 'matcher' | 'match'> }>
  >
  /** In the unit of the host's timeout. */
  readonly defaultTimeout: number
  /** What the agent does when a hook fails. */
  policies(hook: CommandHook, event: string): FailurePolicies
  /** Variables that the agent sets for its hooks. */
  readonly variables: readonly string[]
}

interface FoundHook {
  readonly event: string
  readonly hook: CommandHook
  readonly matcher: string
  readonly from: ImportedHook['from']
}

/** An importer for hooks that the agent keeps under `hooks.<event>`. */
export function importCommandHooks(host: CommandHost, options: CommandHookImport): AgentImporter {
  const list = host.layout === 'groups' ? z.array(groupSchema) : z.array(hookSchema)
  const eventsIn = (hooks: Readonly<Record<string, unknown>>) =>
    Object.entries(hooks).filter(([event]) => !host.notEvents?.includes(event))
  const schema = fileSchema.refine(
    ({ hooks }) => eventsIn(hooks).every(([, value]) => list.safeParse(value).success),
    {
      path: ['hooks'],
      message: `each event must hold a list of ${host.layout === 'groups' ? 'groups of hooks' : 'hooks'}`,
    },
  )
  return (value) =>
    translateWith(value, {
      schema,
      translate({ hooks, disableAllHooks = false }) {
        const found = eventsIn(hooks).flatMap(([event, entries]) => findHooks(host, event, entries))
        const made = found.map((each) => translateHook(host, options, each))
        return {
          hooks: made.flatMap(({ from, hook }) =>
            hook === undefined ? [] : { from, hook: disableAllHooks ? { ...hook, enabled: false } : hook },
          ),
          notes: [
            ...(disableAllHooks ? ['disableAllHooks is on, so every hook is switched off'] : []),
            ...made.flatMap(({ notes }) => notes),
          ],
        }
      },
    })
}

function findHooks({ layout }: CommandHost, event: string, value: unknown): FoundHook[] {
  if (layout === 'flat')
    return z
      .array(hookSchema)
      .parse(value)
      .map((hook, at) => ({ event, hook, matcher: hook.matcher ?? '', from: ['hooks', event, at] }))
  return z
    .array(groupSchema)
    .parse(value)
    .flatMap(({ matcher = '', hooks }, at) =>
      hooks.map((hook, index) => ({ event, hook, matcher, from: ['hooks', event, at, 'hooks', index] })),
    )
}

function translateHook(
  host: CommandHost,
  options: CommandHookImport,
  { event, hook, matcher, from }: FoundHook,
) {
  const notes: string[] = []
  const known = options.events?.[event]
  const name = known?.event ?? canonicalEvent(event)
  if (!Object.hasOwn(catalogue, name))
    return { from, notes: [`${from.join('.')}: Hookhelm has no event ${event}; the hook was left out`] }
  const handler = handlerFields(hook, options.variables, notes)
  const condition = { ...known?.fields, ...conditionFields(name, matcher, known !== undefined, notes) }
  const located = notes.map((note) => `${from.join('.')}: ${note}`)
  if (handler === undefined) return { from, notes: located }
  const timeout = host.timeout.key === 'timeoutSec' ? hook.timeoutSec : hook.timeout
  const timeoutMs = (timeout ?? options.defaultTimeout) * host.timeout.unitMs
  const made = {
    event: name,
    ...handler,
    ...condition,
    timeout_ms: Math.min(Math.max(Math.round(timeoutMs), 1), 600_000),
    ...options.policies(hook, event),
  }
  return { from, hook: made, notes: located }
}

function handlerFields(hook: CommandHook, variables: readonly string[], notes: string[]) {
  const { type = 'command', command, bash, exec, args, cwd, env, url, headers } = hook
  if (type === 'http' && url !== undefined)
    return { handler_type: 'http', answer: 'lenient' as const, config: present({ url, headers }) }
  const line = command ?? bash
  const program = exec ?? (args === undefined ? undefined : line)
  if (type !== 'command' || (line ?? program) === undefined) {
    notes.push(`a hook of the type ${type} has no equivalent; it was left out`)
    return undefined
  }
  if (env !== undefined) notes.push('variables of its own have no equivalent; set them in the command')
  const run = program === undefined ? { command: line } : { exec: [program, ...(args ?? [])] }
  // These agents honour JSON and ignore text.
  const config = present({ ...run, cwd, allowed_env_vars: variables })
  return { handler_type: 'command', answer: 'lenient' as const, config }
}

/** An agent's matcher is a regular expression that may match any part of the tool's name. */
function conditionFields(event: string, matcher: string, hasCondition: boolean, notes: string[]) {
  if (matcher === '' || matcher === '*') return {}
  if (!hasCondition && /tool|permission/.test(event)) return { matcher: unanchoredMatcher(matcher) }
  notes.push(`matcher ${matcher} has no equivalent on this event, and was left out`)
  return {}
}

/** Our matchers read `Tool(x)` as a pattern over arguments. A group around it makes it a regular expression. */
export function unanchoredMatcher(matcher: string): string {
  return readToolPattern(matcher) === undefined ? matcher : `(?:${matcher})`
}
