import { z } from 'zod'
import {
  attempt,
  type Foreign,
  type Format,
  type ImportResult,
  importForeign,
  type Translated,
} from '../foreign.ts'
import { type ClaudeHandler, claudeConfig, handler } from './handler.ts'
import { claudeMatcher } from './matcher.ts'

const group = z.looseObject({ matcher: z.string().exactOptional(), hooks: z.array(handler) })
const schema = z.looseObject({
  hooks: z.record(z.string(), z.array(group)),
  disableAllHooks: z.boolean().exactOptional(),
})
type Settings = z.output<typeof schema>

export interface ClaudeCodeOptions {
  /** What `${CLAUDE_PLUGIN_ROOT}` stands for, where the file is that of a plugin. */
  readonly pluginRoot?: string
}

/** Claude Code's `settings.json`, or the `hooks.json` of a plugin. */
export function importClaudeCode(given: Foreign, options: ClaudeCodeOptions = {}): ImportResult {
  return importForeign(given, (value) => attempt(value, claudeCode(options)))
}

export function claudeCode({ pluginRoot }: ClaudeCodeOptions = {}): Format<Settings> {
  return {
    schema,
    translate: ({ hooks, disableAllHooks = false }) => {
      const all = Object.entries(hooks).flatMap(([event, groups]) =>
        groups.flatMap(({ matcher, hooks: handlers }, at) =>
          handlers.flatMap((each, index) => {
            const from = ['hooks', event, at, 'hooks', index]
            return translated({ event, matcher: matcher ?? '', each, from, pluginRoot, disableAllHooks })
          }),
        ),
      )
      const off = disableAllHooks ? ['disableAllHooks is on, so every hook is switched off'] : []
      return {
        hooks: all.flatMap(({ hook }) => hook ?? []),
        notes: [...off, ...all.flatMap(({ notes }) => notes)],
      }
    },
  }
}

interface Entry {
  readonly event: string
  readonly matcher: string
  readonly each: ClaudeHandler
  readonly from: Translated['from']
  readonly pluginRoot: string | undefined
  readonly disableAllHooks: boolean
}

/** Without a timeout of its own a hook has that of its kind, in seconds. */
const timeouts: Readonly<Record<ClaudeHandler['type'], number>> = {
  command: 600,
  http: 600,
  prompt: 30,
  agent: 60,
  mcp_tool: 600,
}

function translated(entry: Entry): { hook?: Translated; notes: string[] } {
  const { event, matcher, each, from, pluginRoot, disableAllHooks } = entry
  const where = from.join('.')
  const { config, notes } = claudeConfig(each, pluginRoot)
  if (config === undefined) return { notes: notes.map((note) => `${where}: ${note}`) }
  const condition = claudeMatcher(matcher, each.if)
  // It lets a call pass when a hook fails, unless the hook says otherwise.
  const policy = each.onFailure === 'block' ? 'block' : 'allow'
  const seconds = each.timeout ?? (event === 'UserPromptSubmit' ? 30 : timeouts[each.type])
  const hook = {
    event,
    handler_type: each.type,
    ...condition.fields,
    timeout_ms: Math.min(Math.max(Math.round(seconds * 1_000), 1), 600_000),
    on_error: policy,
    on_timeout: policy,
    on_invalid: policy,
    ...(disableAllHooks ? { enabled: false } : {}),
    config,
  } as const
  return { hook: { from, hook }, notes: [...notes, ...condition.notes].map((note) => `${where}: ${note}`) }
}
