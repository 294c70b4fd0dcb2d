import { z } from 'zod'
import { present } from '../foreign.ts'

const text = z.string().min(1, 'must not be empty')
const common = {
  if: z.string().exactOptional(),
  timeout: z.number().positive('must be more than 0 s').exactOptional(),
  onFailure: z.string().exactOptional(),
  statusMessage: z.string().exactOptional(),
  once: z.boolean().exactOptional(),
}
const model = text.exactOptional()

/** What a hook of Claude Code can be. Fields nobody knows are its business and are left out. */
export const handler = z.discriminatedUnion('type', [
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
export type ClaudeHandler = z.output<typeof handler>

interface Made {
  /** Absent where we have nothing of the kind. */
  readonly config?: object
  readonly notes: readonly string[]
}

export function claudeConfig(hook: ClaudeHandler, pluginRoot: string | undefined): Made {
  const notes = commonNotes(hook)
  switch (hook.type) {
    case 'command': {
      const { config, notes: more } = commandConfig(hook, pluginRoot)
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

function commandConfig(
  hook: Extract<ClaudeHandler, { type: 'command' }>,
  pluginRoot: string | undefined,
): Required<Made> {
  const { command, args, shell, async: detached, asyncRewake } = hook
  const filled = (part: string) =>
    pluginRoot === undefined ? part : part.replaceAll(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => pluginRoot)
  const unfilled =
    pluginRoot === undefined && [command, ...(args ?? [])].some((part) => part.includes('CLAUDE_PLUGIN_ROOT'))
  return {
    config: {
      ...(args === undefined ? { command: filled(command) } : { exec: [command, ...args].map(filled) }),
      allowed_env_vars: ['CLAUDE_PROJECT_DIR'],
    },
    notes: [
      ...(unfilled ? ['CLAUDE_PLUGIN_ROOT is not known here; say where the plugin lies'] : []),
      ...(shell !== undefined && shell !== 'bash' ? [`it runs in sh, not in ${shell}`] : []),
      ...(detached || asyncRewake ? ['async has no equivalent on this event; the answer is waited for'] : []),
    ],
  }
}

function commonNotes({ once, statusMessage }: ClaudeHandler): string[] {
  return [
    ...(once ? ['once has no equivalent; it runs every time'] : []),
    ...(statusMessage === undefined ? [] : ['statusMessage has no equivalent']),
  ]
}
