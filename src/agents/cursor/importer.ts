import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { importCommandHooks, type ToolEvent } from '../config/import-command-hooks.ts'
import { type ConditionFields, fieldMatches } from '../config/import-matcher.ts'
import { failClosedPolicies, failOpenPolicies } from '../config/imported-fields.ts'
import { cursorEvents } from './events.ts'
import { cursorHost } from './host.ts'
import { cursorTools } from './tools.ts'

const edits = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']

const forTools = (event: string, names: readonly string[]): ToolEvent => ({
  event,
  fields: { match: { names } },
})
/** The matcher of these events is compared with the text of the command. */
const forShell = (event: string): ToolEvent => ({
  ...forTools(event, ['Bash']),
  matcher: (pattern) => fieldMatches('tool_input.command', pattern),
})
const forMcp = (event: string): ToolEvent => ({
  event,
  fields: { matcher: '^(?:mcp__|MCP:)' },
  matcher: (pattern) => ({ matcher: `^(?:mcp__.+?__|MCP:).*(?:${pattern})` }),
})
/** The matcher of these events is compared with a fixed word, so it fits always or never. */
const forWord = (known: ToolEvent, ...words: readonly string[]): ToolEvent => ({
  ...known,
  matcher: (pattern): ConditionFields | undefined =>
    words.some((word) => word === pattern || pattern.split('|').includes(word)) ? {} : undefined,
})

/** Imports Cursor's `hooks.json`. */
export const cursorImporter = importCommandHooks(cursorHost, {
  native: cursorEvents,
  tools: cursorTools,
  // Cursor's older events concern one kind of tool each.
  events: {
    beforeShellExecution: forShell('pre_tool_use'),
    afterShellExecution: forShell('post_tool_use'),
    beforeReadFile: forWord(forTools('pre_tool_use', ['Read']), 'Read', 'TabRead'),
    beforeTabFileRead: forWord(forTools('pre_tool_use', ['Read']), 'Read', 'TabRead'),
    afterFileEdit: forWord(forTools('post_tool_use', edits), 'Write', 'TabWrite'),
    afterTabFileEdit: forWord({ event: 'file_changed', fields: {} }, 'Write', 'TabWrite'),
    beforeSubmitPrompt: forWord({ event: 'user_prompt_submit', fields: {} }, 'UserPromptSubmit'),
    stop: forWord({ event: 'stop', fields: {} }, 'Stop'),
    beforeMCPExecution: forMcp('pre_tool_use'),
    afterMCPExecution: forMcp('post_tool_use'),
  },
  cannotBlock: ['subagentStop', 'sessionStart'],
  defaultTimeout: 60,
  policies: ({ failClosed = false }) => (failClosed ? failClosedPolicies : failOpenPolicies),
  variables: ['CURSOR_PROJECT_DIR', 'CURSOR_VERSION', 'CURSOR_USER_EMAIL', 'CLAUDE_PROJECT_DIR'],
  pluginRoots: ['CURSOR_PLUGIN_ROOT'],
  // Hooks of the user run in the folder of their file, hooks of a project in the project.
  folder: (file) => (file === join(homedir(), '.cursor', 'hooks.json') ? dirname(file) : undefined),
  judges: true,
})
