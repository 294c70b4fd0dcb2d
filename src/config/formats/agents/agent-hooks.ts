import { z } from 'zod'
import { catalogue } from '../../../engine/events/catalogue.ts'
import { asRegex } from '../claude-code/matcher.ts'
import { canonicalEvent, type Format, present, type Translated } from '../foreign.ts'
import type { AgentHook, Dialect } from './dialect.ts'

const text = z.string().min(1, 'must not be empty')
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
const schema = z.looseObject({
  hooks: z.record(z.string(), z.unknown()),
  disableAllHooks: z.boolean().exactOptional(),
})

interface Found {
  readonly event: string
  readonly hook: AgentHook
  readonly matcher: string
  readonly from: Translated['from']
}

/** The hooks in the configuration of a coding agent. */
export function agentHooks(dialect: Dialect): Format<z.output<typeof schema>> {
  const list = dialect.layout === 'groups' ? z.array(groupSchema) : z.array(hookSchema)
  const events = (hooks: Readonly<Record<string, unknown>>) =>
    Object.entries(hooks).filter(([event]) => !dialect.notEvents?.includes(event))
  return {
    schema: schema.refine(({ hooks }) => events(hooks).every(([, value]) => list.safeParse(value).success), {
      path: ['hooks'],
      message: `each event must hold a list of ${dialect.layout === 'groups' ? 'groups of hooks' : 'hooks'}`,
    }),
    translate({ hooks, disableAllHooks = false }) {
      const all = events(hooks).flatMap(([event, value]) => found(dialect, event, value))
      const made = all.map((each) => translated(dialect, each, disableAllHooks))
      return {
        hooks: made.flatMap(({ hook }) => hook ?? []),
        notes: [
          ...(disableAllHooks ? ['disableAllHooks is on, so every hook is switched off'] : []),
          ...made.flatMap(({ notes }) => notes),
        ],
      }
    },
  }
}

function found({ layout }: Dialect, event: string, value: unknown): Found[] {
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

function translated(dialect: Dialect, { event, hook, matcher, from }: Found, isOff: boolean) {
  const notes: string[] = []
  const known = dialect.events?.[event]
  const name = known?.event ?? canonicalEvent(event)
  if (!Object.hasOwn(catalogue, name))
    return { notes: [`${from.join('.')}: ${event} is no event of ours; the hook was left out`] }
  const handler = handlerOf(dialect, hook, notes)
  const condition = { ...known?.fields, ...conditionOf(name, matcher, known !== undefined, notes) }
  const told = notes.map((note) => `${from.join('.')}: ${note}`)
  if (handler === undefined) return { notes: told }
  const made = {
    event: name,
    ...handler,
    ...condition,
    timeout_ms: Math.min(Math.max(Math.round(dialect.timeoutMs(hook)), 1), 600_000),
    ...dialect.policies(hook, event),
    ...(isOff ? { enabled: false } : {}),
  }
  return { hook: { from, hook: made }, notes: told }
}

function handlerOf({ variables }: Dialect, hook: AgentHook, notes: string[]) {
  const { type = 'command', command, bash, exec, args, cwd, env, url, headers } = hook
  if (type === 'http' && url !== undefined) return { handler_type: 'http', config: present({ url, headers }) }
  const line = command ?? bash
  const program = exec ?? (args === undefined ? undefined : line)
  if (type !== 'command' || (line ?? program) === undefined) {
    notes.push(`a hook of the type ${type} has no equivalent; it was left out`)
    return undefined
  }
  if (env !== undefined) notes.push('variables of its own have no equivalent; set them in the command')
  const run = program === undefined ? { command: line } : { exec: [program, ...(args ?? [])] }
  return { handler_type: 'command', config: present({ ...run, cwd, allowed_env_vars: variables }) }
}

/** A regular expression over the name of the tool, which may fit anywhere. */
function conditionOf(event: string, matcher: string, isNarrow: boolean, notes: string[]) {
  if (matcher === '' || matcher === '*') return {}
  if (!isNarrow && /tool|permission/.test(event)) return { matcher: asRegex(matcher) }
  notes.push(`matcher ${matcher} has no equivalent on this event, and was left out`)
  return {}
}
