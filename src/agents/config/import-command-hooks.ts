import { looseObject, nonEmpty, numeric, openObject } from '../../engine/core/schema/more-schemas.ts'
import { readChecked, readIfValid } from '../../engine/core/schema/read-checked.ts'
import { type SchemaPath, type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import {
  canonicalEvent,
  type ImportAttempt,
  type ImportedHook,
  present,
  translateWith,
} from '../../hook-files/formats/import-format.ts'
import { FieldReader, type ImportLedger } from '../../hook-files/formats/import-ledger.ts'
import type { NativeEvent } from '../agent-adapter.ts'
import type { CommandHost } from '../agent-host.ts'
import { lookUp, type ToolNames } from '../translate/tool-names.ts'
import { type ConditionFields, matchesEverything, toolMatcher, unanchoredMatcher } from './import-matcher.ts'
import {
  awaited,
  type FailurePolicies,
  type HandlerFields,
  importedAnswerMode,
  importedHttpFields,
  importedPromptFields,
  leaveOut,
  refuseUnknownEvent,
  takeAsync,
} from './imported-fields.ts'
import { translateCommand } from './translate-command.ts'

/** Translates an agent's parsed configuration into our hooks, or lists its problems. `file` is where it was read. */
export type AgentImporter = (value: unknown, file: string) => ImportAttempt

const text = nonEmpty()
const texts = schema.map(schema.text())
/** The fields that the agents share. */
const hookSchema = looseObject(
  schema.partial({
    type: schema.text(),
    name: schema.text(),
    description: schema.text(),
    command: text,
    bash: text,
    powershell: text,
    exec: text,
    args: schema.list(schema.text()),
    cwd: schema.text(),
    env: texts,
    url: text,
    headers: texts,
    prompt: text,
    model: text,
    timeout: numeric(undefined, { moreThan: 0 }),
    timeoutSec: numeric(undefined, { moreThan: 0 }),
    matcher: schema.text(),
    failClosed: schema.boolean(),
    async: schema.boolean(),
  }),
)
const groupSchema = looseObject({
  matcher: schema.optional(schema.text()),
  sequential: schema.optional(schema.boolean()),
  hooks: schema.list(hookSchema),
})
const switches = looseObject(
  schema.partial({ enabled: schema.boolean(), disabled: schema.list(schema.text()) }),
)

export type CommandHook = SchemaType<typeof hookSchema>

/** An event of the agent that is one of ours for some tools only. */
export interface ToolEvent {
  readonly event: string
  readonly fields: ConditionFields
  /** Translates the matcher of such an event. */
  matcher?(matcher: string): ConditionFields | undefined
}

/** What an import needs to know beyond the agent's host. */
export interface CommandHookImport {
  /** The events of the agent, which hooks receive in its own form. Without them, hooks receive Hookhelm's form. */
  readonly native?: Readonly<Record<string, NativeEvent>>
  readonly tools?: ToolNames
  readonly events?: Readonly<Record<string, ToolEvent>>
  /** Events at which a hook of the agent may block, and ours may not. */
  readonly cannotBlock?: readonly string[]
  /** Events that Hookhelm cannot serve at all: a hook there would decide nothing. */
  readonly refused?: readonly string[]
  /** In the unit of the host's timeout. */
  readonly defaultTimeout: number
  /** What the agent does when a hook fails. */
  policies(hook: CommandHook, event: string): FailurePolicies
  /** Variables that the agent sets for its hooks. */
  readonly variables: readonly string[]
  /** Names of the folder of a plugin in a command. */
  readonly pluginRoots?: readonly string[]
  /** Where the agent runs the commands of this file, if that is not the folder of the project. */
  folder?(file: string): string | undefined
  /** A prompt that judges an event, as in Claude Code. */
  readonly judges?: true
}

/** One hook of the file, with what surrounds it. */
interface FoundHook {
  readonly event: string
  readonly reader: FieldReader<CommandHook>
  readonly matcher: string
  readonly matcherPath: SchemaPath
}

interface Importing {
  readonly host: CommandHost
  readonly options: CommandHookImport
  readonly file: string
  readonly isOff: (hook: CommandHook) => boolean
}

/** An importer for hooks that the agent keeps under `hooks.<event>`. */
export function importCommandHooks(host: CommandHost, options: CommandHookImport): AgentImporter {
  const format = fileSchema(host)
  return (value, file) =>
    translateWith(value, {
      schema: format,
      translate(parsed, ledger) {
        const isOff = readSwitches(parsed, ledger)
        const { hooks } = parsed
        const importing = { host, options, file, isOff }
        return Object.entries(hooks)
          .filter(([event]) => !host.notEvents?.includes(event))
          .flatMap(([event, entries]) => findHooks(host, event, entries, ledger))
          .flatMap((found) => translateHook(importing, found))
      },
    })
}

function fileSchema({ layout, notEvents = [] }: CommandHost) {
  const list = layout === 'groups' ? schema.list(groupSchema) : schema.list(hookSchema)
  const others = schema.partial(Object.fromEntries(notEvents.map((key) => [key, schema.any()])))
  return looseObject({
    hooks: openObject(others, list),
    disableAllHooks: schema.optional(schema.boolean()),
    hooksConfig: schema.optional(switches),
  })
}

/** The switches of a file, which turn off all of its hooks or those with a name. */
function readSwitches(
  { hooks, disableAllHooks = false, hooksConfig }: Readonly<Record<string, unknown>>,
  ledger: ImportLedger,
): (hook: CommandHook) => boolean {
  for (const key of ['$schema', 'version']) ledger.use([key])
  const found = [
    { path: ['hooks'], ...readIfValid(switches, hooks) },
    { path: ['hooksConfig'], ...readIfValid(switches, hooksConfig) },
  ]
  const names = new Set<string>()
  let isAllOff = disableAllHooks === true
  if (isAllOff) ledger.note(['disableAllHooks'], 'disableAllHooks is on, so every hook is switched off')
  else ledger.use(['disableAllHooks'])
  for (const { path, enabled, disabled } of found) {
    if (enabled === false) ledger.note([...path, 'enabled'], 'hooks are off, so every hook is switched off')
    else if (typeof enabled === 'boolean') ledger.use([...path, 'enabled'])
    isAllOff ||= enabled === false
    if (Array.isArray(disabled)) ledger.use([...path, 'disabled'])
    for (const name of Array.isArray(disabled) ? disabled : []) names.add(name)
  }
  return ({ name, command }) => isAllOff || names.has(name ?? '') || names.has(command ?? '')
}

function findHooks(
  { layout }: CommandHost,
  event: string,
  value: unknown,
  ledger: ImportLedger,
): readonly FoundHook[] {
  if (layout === 'flat')
    return readChecked(schema.list(hookSchema), value).map((hook, at) => {
      const reader = new FieldReader(hook, ['hooks', event, at], ledger)
      return {
        event,
        reader,
        matcher: reader.take('matcher') ?? '',
        matcherPath: [...reader.path, 'matcher'],
      }
    })
  return readChecked(schema.list(groupSchema), value).flatMap((group, at) => {
    const path = ['hooks', event, at]
    const matcher = new FieldReader(group, path, ledger).take('matcher') ?? ''
    // Hooks of Hookhelm always run one after the other.
    ledger.use([...path, 'sequential'])
    return group.hooks.map((hook, index) => ({
      event,
      reader: new FieldReader(hook, [...path, 'hooks', index], ledger),
      matcher,
      matcherPath: [...path, 'matcher'],
    }))
  })
}

/** The events of ours that a native event becomes. Undefined if there is none. */
function eventsOf(
  { native, events }: CommandHookImport,
  { event, reader }: FoundHook,
): readonly string[] | undefined {
  const narrowed = lookUp(events ?? {}, event)
  if (narrowed !== undefined) return [narrowed.event]
  const row = lookUp(native ?? {}, event)
  if (row?.event !== undefined) return [row.event, ...(row.also === undefined ? [] : [row.also])]
  if (row !== undefined) return ['agent_event']
  const name = canonicalEvent(event)
  if (Object.hasOwn(catalogue, name)) return [name]
  refuseUnknownEvent(event, reader)
  return undefined
}

function translateHook(importing: Importing, found: FoundHook): readonly ImportedHook[] {
  const { options } = importing
  const { event, reader } = found
  const names = eventsOf(options, found)
  if (names === undefined) return []
  if (options.refused?.includes(event)) {
    const hint = 'Remove the hook from a copy of the file, and import the copy.'
    reader.ledger.refuse(
      reader.path,
      `Hookhelm has no equivalent of ${event}: the hook would decide nothing`,
      hint,
    )
    return []
  }
  return names.flatMap((name) => {
    const hook = translateFor(importing, found, name)
    return hook === undefined ? [] : [{ from: reader.path, hook }]
  })
}

function translateFor(importing: Importing, found: FoundHook, name: string): HookDefinition | undefined {
  const { host, options } = importing
  const { event, reader } = found
  const handler = handlerFields(importing, found, name)
  const timeout_ms = readTimeout(importing, reader)
  noteEvent(options, found, name)
  const policies = options.policies(reader.fields, event)
  reader.take('failClosed')
  const condition = conditionFields(importing, found, name)
  if (handler === undefined) return undefined
  const isAsync = takeAsync(reader, name)
  for (const [key, value] of Object.entries(host.always)) if (reader.fields[key] === value) reader.take(key)
  return {
    event: name,
    ...present({ name: reader.take('name'), description: reader.take('description') }),
    ...handler,
    ...condition,
    timeout_ms,
    ...policies,
    ...importedAnswerMode(handler.handler_type, policies),
    ...awaited(name, isAsync),
    ...(importing.isOff(reader.fields) ? { enabled: false } : {}),
  }
}

const MAX_TIMEOUT_MS = 600_000
const SUSPICIOUS_MS = 250

function readTimeout({ host, options }: Importing, reader: FieldReader<CommandHook>): number {
  const { key, unitMs } = host.timeout
  const own = key === 'timeoutSec' ? (['timeoutSec', 'timeout'] as const) : (['timeout'] as const)
  const used = own.find((field) => reader.fields[field] !== undefined)
  const given = used === undefined ? undefined : reader.take(used)
  const wanted = Math.max(Math.round((given ?? options.defaultTimeout) * unitMs), 1)
  if (wanted > MAX_TIMEOUT_MS)
    reader.note(used ?? key, `a hook may run for ${MAX_TIMEOUT_MS / 1_000} s, not for ${wanted / 1_000} s`)
  if (unitMs === 1 && wanted < SUSPICIOUS_MS)
    reader.note(used ?? key, `the agent counts milliseconds, so this hook has only ${wanted} ms`)
  return Math.min(wanted, MAX_TIMEOUT_MS)
}

function noteEvent(
  { cannotBlock = [] }: CommandHookImport,
  { event, reader }: FoundHook,
  name: string,
): void {
  const { ledger, path } = reader
  if (cannotBlock.includes(event))
    ledger.remark(path, `at ${event} hooks cannot block here, so a block of this one has no effect`)
  if (name === 'agent_event')
    ledger.remark(path, `no other agent reports ${event}; the hook runs for this agent only`)
}

function handlerFields(importing: Importing, found: FoundHook, name: string): HandlerFields | undefined {
  const { reader, event } = found
  const type = reader.take('type') ?? 'command'
  const payload = payloadOf(importing, event, name)
  if (type === 'http') return importedHttpFields(reader, name, payload)
  if (type === 'prompt' && importing.options.judges) return importedPromptFields(reader)
  if (type === 'command') return commandFields(importing, found, { name, payload })
  return leaveOut(reader, name, `a hook of the type ${type} has no equivalent`)
}

/** The form of the event, with the agent's own name of it where the event of ours does not say which one it is. */
function payloadOf({ host, options: { native } }: Importing, event: string, name: string): object {
  if (native === undefined) return {}
  const usual = Object.entries(native).find(([, row]) => row.event === name || row.also === name)?.[0]
  const isKnown = Object.hasOwn(native, event)
  return { payload: host.agent, ...(isKnown && event !== usual ? { payload_event: event } : {}) }
}

function commandFields(
  { options, file }: Importing,
  { reader }: FoundHook,
  { name, payload }: { readonly name: string; readonly payload: object },
): HandlerFields | undefined {
  const [command, bash, exec] = [reader.take('command'), reader.take('bash'), reader.take('exec')]
  const [args, cwd, env] = [reader.take('args'), reader.take('cwd'), reader.take('env')]
  const line = exec ?? bash ?? command
  if (line === undefined) {
    const isWindows = reader.fields.powershell !== undefined || 'commandWindows' in reader.fields
    return leaveOut(reader, name, isWindows ? 'this command runs on Windows only' : 'the hook has no command')
  }
  for (const key of ['powershell', 'commandWindows'])
    reader.note(key, 'the command for Windows is not used; the other one runs everywhere')
  const { variables, pluginRoots = [] } = options
  const program = exec === undefined ? args : (args ?? [])
  const made = translateCommand({ line, args: program, cwd, env }, { file, variables, pluginRoots })
  if ('problem' in made) return leaveOut(reader, name, made.problem, made.hint)
  // Only the agent's own form sets its variables.
  const inherited = options.native === undefined ? { allowed_env_vars: variables } : {}
  const folder = made.config.cwd ?? options.folder?.(file)
  return {
    handler_type: 'command',
    config: { ...inherited, ...made.config, ...definedFields({ cwd: folder }), ...payload },
  }
}

/** Events about a tool call: the matcher is a regular expression that may match any part of the tool's name. */
const aboutTools = /tool|permission/
/** Events whose matcher is compared with the same word as in the agents: the source of a session, the type of a sub-agent. */
const aboutWords = [
  'session_start',
  'session_end',
  'pre_compact',
  'notification',
  'subagent_start',
  'subagent_stop',
]

function conditionFields({ options }: Importing, found: FoundHook, name: string): ConditionFields {
  const { event, matcher, reader, matcherPath } = found
  const narrowed = lookUp(options.events ?? {}, event)
  const own = name === 'agent_event' ? { matcher: `^${event}$` } : narrowed?.fields
  if (matchesEverything(matcher)) return own ?? {}
  const translated = narrowed?.matcher?.(matcher)
  if (translated !== undefined) return { ...own, ...translated }
  if (own === undefined && aboutTools.test(name))
    return { matcher: toolMatcher(matcher, options.tools ?? {}) }
  if (own === undefined && aboutWords.includes(name)) return { matcher: unanchoredMatcher(matcher) }
  reader.ledger.note(
    matcherPath,
    `the matcher ${matcher} has no equivalent at ${event}, so the hook runs every time`,
  )
  return own ?? {}
}
