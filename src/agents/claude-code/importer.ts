import { looseObject, nonEmpty, numeric, tagged } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { readToolPattern } from '../../engine/match/tool-pattern.ts'
import { canonicalEvent, type ImportedHook, translateWith } from '../../hook-files/formats/import-format.ts'
import { FieldReader, type ImportLedger } from '../../hook-files/formats/import-ledger.ts'
import type { AgentImporter } from '../config/import-command-hooks.ts'
import { type ConditionFields, matchesEverything, unanchoredMatcher } from '../config/import-matcher.ts'
import {
  awaited,
  failClosedPolicies,
  failOpenPolicies,
  importedAnswerMode,
  importedHttpFields,
  importedPromptFields,
  leaveOut,
  refuseUnknownEvent,
  takeAsync,
} from '../config/imported-fields.ts'
import { translateCommand } from '../config/translate-command.ts'

const text = nonEmpty()
const common = schema.partial({
  if: schema.text(),
  timeout: numeric(undefined, { moreThan: 0 }),
  onFailure: schema.text(),
  statusMessage: schema.text(),
  once: schema.boolean(),
  async: schema.boolean(),
})
const model = schema.optional(text)

/** The kinds of hooks that Claude Code has. */
const handler = tagged('type', [
  looseObject({
    type: schema.choice(['command']),
    command: text,
    ...schema.partial({
      args: schema.list(schema.text()),
      shell: schema.text(),
      asyncRewake: schema.boolean(),
    }),
    ...common,
  }),
  looseObject({
    type: schema.choice(['http']),
    url: text,
    headers: schema.optional(schema.map(schema.text())),
    allowedEnvVars: schema.optional(schema.list(schema.text())),
    ...common,
  }),
  looseObject({ type: schema.choice(['mcp_tool']), ...common }),
  looseObject({ type: schema.choice(['prompt']), prompt: text, model, ...common }),
  looseObject({ type: schema.choice(['agent']), prompt: text, model, ...common }),
])
type ClaudeHandler = SchemaType<typeof handler>

const group = looseObject({ matcher: schema.optional(schema.text()), hooks: schema.list(handler) })
const fileSchema = looseObject({
  hooks: schema.map(schema.list(group)),
  disableAllHooks: schema.optional(schema.boolean()),
})

/** Imports Claude Code's `settings.json`, or the `hooks.json` of a plugin. */
export const claudeCodeImporter: AgentImporter = (value, file) =>
  translateWith(value, {
    schema: fileSchema,
    translate: ({ hooks, disableAllHooks = false }, ledger) => {
      ledger.use(['$schema'])
      if (disableAllHooks)
        ledger.note(['disableAllHooks'], 'disableAllHooks is on, so every hook is switched off')
      else ledger.use(['disableAllHooks'])
      return Object.entries(hooks)
        .flatMap(([event, groups]) => findHooks(event, groups, ledger))
        .flatMap((found) => translateHook({ ...found, file, disableAllHooks }))
    },
  })

interface FoundHook {
  readonly event: string
  readonly matcher: FieldReader<SchemaType<typeof group>>
  readonly reader: FieldReader<ClaudeHandler>
}

function findHooks(
  event: string,
  groups: readonly SchemaType<typeof group>[],
  ledger: ImportLedger,
): readonly FoundHook[] {
  return groups.flatMap((each, at) => {
    const path = ['hooks', event, at]
    return each.hooks.map((hook, index) => ({
      event,
      matcher: new FieldReader(each, path, ledger),
      reader: new FieldReader(hook, [...path, 'hooks', index], ledger),
    }))
  })
}

interface ClaudeHook extends FoundHook {
  readonly file: string
  readonly disableAllHooks: boolean
}

/** Default timeouts, in seconds. */
const defaultTimeouts: Readonly<Record<ClaudeHandler['type'], number>> = {
  command: 600,
  http: 600,
  prompt: 30,
  agent: 60,
  mcp_tool: 600,
}
const MAX_TIMEOUT_MS = 600_000

/** Events at which a hook of Claude Code may block, and ours may not. */
const cannotBlock = [
  ...['SubagentStop', 'PostToolBatch', 'TaskCreated', 'TeammateIdle', 'ConfigChange'],
  ...['PreModelSwitch', 'Elicitation', 'ElicitationResult', 'UserPromptExpansion', 'WorktreeCreate'],
]

function translateHook(entry: ClaudeHook): readonly ImportedHook[] {
  const { event, reader, disableAllHooks } = entry
  const { ledger, path: from } = reader
  const name = canonicalEvent(event)
  if (!Object.hasOwn(catalogue, name)) {
    refuseUnknownEvent(event, reader)
    return []
  }
  const condition = conditionFields(entry)
  const made = handlerFields(entry, name)
  // In Claude Code a failed hook lets the call pass, unless `onFailure` is `block`.
  const policies = reader.take('onFailure') === 'block' ? failClosedPolicies : failOpenPolicies
  if (made === undefined) return []
  noteCommonFields(reader)
  if (cannotBlock.includes(event))
    ledger.remark(from, `at ${event} hooks cannot block here, so a block of this one has no effect`)
  const isAsync = takeAsync(reader, name)
  const hook = {
    event,
    ...made,
    ...condition,
    timeout_ms: readTimeout(entry),
    ...policies,
    ...importedAnswerMode(made.handler_type, policies),
    ...awaited(name, isAsync || made.handler_type === 'agent'),
    ...(disableAllHooks ? { enabled: false } : {}),
  }
  return [{ from, hook }]
}

function readTimeout({ event, reader }: ClaudeHook): number {
  const { type } = reader.fields
  const seconds = reader.take('timeout') ?? (event === 'UserPromptSubmit' ? 30 : defaultTimeouts[type])
  const wanted = Math.max(Math.round(seconds * 1_000), 1)
  if (wanted > MAX_TIMEOUT_MS)
    reader.note('timeout', `a hook may run for ${MAX_TIMEOUT_MS / 1_000} s, not for ${seconds} s`)
  return Math.min(wanted, MAX_TIMEOUT_MS)
}

function handlerFields(
  { reader, file }: ClaudeHook,
  name: string,
): Pick<HookDefinition, 'handler_type' | 'config'> | undefined {
  const payload = { payload: 'claude-code' }
  const { fields, path, ledger } = reader
  reader.take('type')
  switch (fields.type) {
    case 'command':
      return commandFields(new FieldReader(fields, path, ledger), { name, file, payload })
    case 'http':
      // Headers with variables are refused, so the list of variables says nothing more.
      ledger.use([...path, 'allowedEnvVars'])
      return importedHttpFields(new FieldReader(fields, path, ledger), name, payload)
    case 'mcp_tool':
      return leaveOut(reader, name, 'a tool of an MCP server cannot be a hook')
    default:
      return importedPromptFields(new FieldReader(fields, path, ledger))
  }
}

type CommandHandler = Extract<ClaudeHandler, { type: 'command' }>

function commandFields(
  reader: FieldReader<CommandHandler>,
  { name, file, payload }: { readonly name: string; readonly file: string; readonly payload: object },
): Pick<HookDefinition, 'handler_type' | 'config'> | undefined {
  const [line, args, shell] = [reader.take('command'), reader.take('args'), reader.take('shell')]
  if (shell !== undefined && shell !== 'bash')
    return leaveOut(reader, name, `this command needs ${shell}, which Hookhelm does not start`)
  reader.note('asyncRewake', 'asyncRewake has no equivalent; the agent does not wake up')
  const made = translateCommand(
    { line, args },
    {
      file,
      variables: ['CLAUDE_PROJECT_DIR', 'CLAUDE_CODE_SESSION_ID', 'CLAUDECODE'],
      pluginRoots: ['CLAUDE_PLUGIN_ROOT'],
    },
  )
  if ('problem' in made) return leaveOut(reader, name, made.problem, made.hint)
  return { handler_type: 'command', config: { ...made.config, ...payload } }
}

function noteCommonFields(reader: FieldReader<ClaudeHandler>): void {
  if (reader.fields.once) reader.note('once', 'once has no equivalent; the hook runs every time')
  else reader.take('once')
  reader.note('statusMessage', 'statusMessage has no equivalent; nothing is shown while the hook runs')
}

/** Events without a matcher: Claude Code ignores one that is written there. */
const withoutMatcher = [
  ...['UserPromptSubmit', 'Stop', 'PostToolBatch', 'TeammateIdle', 'TaskCreated', 'TaskCompleted'],
  ...['WorktreeCreate', 'WorktreeRemove', 'CwdChanged', 'MessageDisplay'],
]
/** Events whose matcher Claude Code compares with another field than Hookhelm. */
const otherField = ['InstructionsLoaded', 'FileChanged', 'StopFailure', 'DirectoryAdded']

/**
 * Claude Code's matcher is `*` or empty for every tool, a list of names, or an unanchored regular expression. `if` is a
 * permission rule such as `Bash(git *)`. Both must match.
 */
function conditionFields({ event, matcher: reader, reader: hook }: ClaudeHook): ConditionFields {
  const matcher = reader.take('matcher') ?? ''
  const rule = hook.take('if') ?? ''
  if (matcher !== '' && withoutMatcher.includes(event)) {
    reader.note('matcher', `Claude Code ignores a matcher at ${event}, so the hook runs every time`)
    return {}
  }
  if (!matchesEverything(matcher) && otherField.includes(event)) {
    reader.note('matcher', `the matcher has no equivalent at ${event}, so the hook runs every time`)
    return {}
  }
  const names = exactNames(matcher)
  const all = matchesEverything(matcher)
  if (rule === '') {
    if (all) return {}
    return names === undefined ? { matcher: unanchoredMatcher(matcher) } : { match: { names } }
  }
  const tool = readToolPattern(rule)?.tool ?? rule
  // `match.names` accepts such rules too, so one hook can hold the rule and a regular expression.
  if (names === undefined)
    return { ...(all ? {} : { matcher: unanchoredMatcher(matcher) }), match: { names: [rule] } }
  if (names.includes(tool)) return { match: { names: [rule] } }
  hook.note('if', `matcher ${matcher} and if ${rule} never hold together, so the hook is switched off`)
  return { match: { names: [rule] }, enabled: false }
}

function exactNames(matcher: string): string[] | undefined {
  if (matcher === '' || !/^[\w\s,|-]+$/.test(matcher)) return undefined
  return matcher
    .split(/[,|]/)
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
