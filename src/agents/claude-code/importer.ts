import { z } from 'zod'
import { type ImportedHook, present, translateWith } from '../../config/formats/import-format.ts'
import type { HookOptions } from '../../engine/hook-definition.ts'
import { readToolPattern } from '../../engine/match/tool-pattern.ts'
import { type AgentImporter, unanchoredMatcher } from '../config/import-command-hooks.ts'

const text = z.string().min(1, 'must not be empty')
const common = {
  if: z.string().exactOptional(),
  timeout: z.number().positive('must be more than 0 s').exactOptional(),
  onFailure: z.string().exactOptional(),
  statusMessage: z.string().exactOptional(),
  once: z.boolean().exactOptional(),
}
const model = text.exactOptional()

/** The kinds of hooks that Claude Code has. Unknown fields are ignored. */
const handler = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('command'),
    command: text,
    args: z.array(z.string()).exactOptional(),
    shell: z.string().exactOptional(),
    async: z.boolean().exactOptional(),
    asyncRewake: z.boolean().exactOptional(),
    ...common,
  }),
  z.looseObject({
    type: z.literal('http'),
    url: text,
    headers: z.record(z.string(), z.string()).exactOptional(),
    allowedEnvVars: z.array(z.string()).exactOptional(),
    ...common,
  }),
  z.looseObject({ type: z.literal('mcp_tool'), ...common }),
  z.looseObject({ type: z.literal('prompt'), prompt: text, model, ...common }),
  z.looseObject({ type: z.literal('agent'), prompt: text, model, ...common }),
])
type ClaudeHandler = z.output<typeof handler>

const group = z.looseObject({ matcher: z.string().exactOptional(), hooks: z.array(handler) })
const schema = z.looseObject({
  hooks: z.record(z.string(), z.array(group)),
  disableAllHooks: z.boolean().exactOptional(),
})

/** Imports Claude Code's `settings.json`, or the `hooks.json` of a plugin. */
export const claudeCodeImporter: AgentImporter = (value) =>
  translateWith(value, {
    schema,
    translate: ({ hooks, disableAllHooks = false }) => {
      const all = Object.entries(hooks).flatMap(([event, groups]) =>
        groups.flatMap(({ matcher, hooks: handlers }, at) =>
          handlers.flatMap((each, index) => {
            const from = ['hooks', event, at, 'hooks', index]
            return translateHook({ event, matcher: matcher ?? '', each, from, disableAllHooks })
          }),
        ),
      )
      const off = disableAllHooks ? ['disableAllHooks is on, so every hook is switched off'] : []
      return {
        hooks: all.flatMap(({ hook }) => hook ?? []),
        notes: [...off, ...all.flatMap(({ notes }) => notes)],
      }
    },
  })

interface ClaudeHook {
  readonly event: string
  readonly matcher: string
  readonly each: ClaudeHandler
  readonly from: ImportedHook['from']
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

function translateHook(entry: ClaudeHook): { hook?: ImportedHook; notes: string[] } {
  const { event, matcher, each, from, disableAllHooks } = entry
  const where = from.join('.')
  const { config, notes } = handlerConfig(each)
  if (config === undefined) return { notes: notes.map((note) => `${where}: ${note}`) }
  const condition = matcherFields(matcher, each.if)
  // In Claude Code a failed hook lets the call pass, unless `onFailure` is `block`.
  const policy = each.onFailure === 'block' ? 'block' : 'allow'
  const seconds = each.timeout ?? (event === 'UserPromptSubmit' ? 30 : defaultTimeouts[each.type])
  const hook = {
    event,
    handler_type: each.type,
    ...condition.fields,
    timeout_ms: Math.min(Math.max(Math.round(seconds * 1_000), 1), 600_000),
    on_error: policy,
    on_timeout: policy,
    on_invalid: policy,
    // Claude Code honours JSON and ignores text.
    ...(each.type === 'command' || each.type === 'http' ? { answer: 'lenient' as const } : {}),
    ...(disableAllHooks ? { enabled: false } : {}),
    config,
  } as const
  return { hook: { from, hook }, notes: [...notes, ...condition.notes].map((note) => `${where}: ${note}`) }
}

interface HandlerConfig {
  /** Undefined if Hookhelm has no equivalent handler. */
  readonly config?: object
  readonly notes: readonly string[]
}

function handlerConfig(hook: ClaudeHandler): HandlerConfig {
  const notes = commonNotes(hook)
  switch (hook.type) {
    case 'command': {
      const { config, notes: more } = commandConfig(hook)
      return { config, notes: [...notes, ...more] }
    }
    case 'http': {
      const { url, headers, allowedEnvVars = [] } = hook
      const more =
        allowedEnvVars.length > 0 ? ['variables in headers are not filled in; write the values'] : []
      return { config: present({ url, headers }), notes: [...notes, ...more] }
    }
    case 'mcp_tool':
      return { notes: ['a tool of an MCP server cannot be a hook; it was left out'] }
    default:
      return { config: present({ format: 'openharness', prompt: hook.prompt, model: hook.model }), notes }
  }
}

function commandConfig(hook: Extract<ClaudeHandler, { type: 'command' }>): Required<HandlerConfig> {
  const { command, args, shell, async: detached, asyncRewake } = hook
  const namesPluginRoot = [command, ...(args ?? [])].some((part) => part.includes('CLAUDE_PLUGIN_ROOT'))
  return {
    config: {
      ...(args === undefined ? { command } : { exec: [command, ...args] }),
      allowed_env_vars: ['CLAUDE_PROJECT_DIR'],
    },
    notes: [
      ...(namesPluginRoot
        ? ['CLAUDE_PLUGIN_ROOT is not set here; write the path of the plugin instead']
        : []),
      ...(shell !== undefined && shell !== 'bash' ? [`it runs in sh, not in ${shell}`] : []),
      ...(detached || asyncRewake
        ? ['async has no equivalent on this event; Hookhelm waits for the answer']
        : []),
    ],
  }
}

function commonNotes({ once, statusMessage }: ClaudeHandler): string[] {
  return [
    ...(once ? ['once has no equivalent; it runs every time'] : []),
    ...(statusMessage === undefined ? [] : ['statusMessage has no equivalent']),
  ]
}

interface ClaudeCondition {
  readonly fields: Pick<HookOptions, 'matcher' | 'match' | 'enabled'>
  readonly notes: readonly string[]
}

/**
 * Claude Code's matcher is `*` or empty for every tool, a list of names, or an unanchored regular expression. `if` is a
 * permission rule such as `Bash(git *)`. Both must match.
 */
function matcherFields(matcher: string, rule: string | undefined): ClaudeCondition {
  const names = exactNames(matcher)
  const all = matcher === '' || matcher === '*'
  if (rule === undefined || rule === '') {
    if (all) return { fields: {}, notes: [] }
    return {
      fields: names === undefined ? { matcher: unanchoredMatcher(matcher) } : { match: { names } },
      notes: [],
    }
  }
  const tool = readToolPattern(rule)?.tool ?? rule
  // `match.names` accepts such rules too, so one hook can hold the rule and a regular expression.
  if (names === undefined)
    return {
      fields: { ...(all ? {} : { matcher: unanchoredMatcher(matcher) }), match: { names: [rule] } },
      notes: [],
    }
  if (names.includes(tool)) return { fields: { match: { names: [rule] } }, notes: [] }
  return {
    fields: { match: { names: [rule] }, enabled: false },
    notes: [`matcher ${matcher} and if ${rule} never hold together, so the hook is switched off`],
  }
}

function exactNames(matcher: string): string[] | undefined {
  if (matcher === '' || !/^[\w\s,|-]+$/.test(matcher)) return undefined
  return matcher
    .split(/[,|]/)
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
