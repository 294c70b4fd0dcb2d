import type { AgentProfile } from '../agent-profile.ts'
import { failClosedPolicies, failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { cursorAdapter } from './adapter.ts'
import { cursorHost } from './host.ts'

const forTools = (event: string, ...names: readonly string[]) => ({ event, fields: { match: { names } } })
const forMcp = (event: string) => ({ event, fields: { matcher: '^(?:mcp__|MCP:)' } })

/** Imports Cursor's `hooks.json`. */
const cursorImporter = importCommandHooks(cursorHost, {
  // Cursor's older events concern one kind of tool each.
  events: {
    beforeShellExecution: forTools('pre_tool_use', 'Bash'),
    afterShellExecution: forTools('post_tool_use', 'Bash'),
    beforeReadFile: forTools('pre_tool_use', 'Read'),
    beforeMCPExecution: forMcp('pre_tool_use'),
    afterMCPExecution: forMcp('post_tool_use'),
  },
  defaultTimeout: 60,
  policies: ({ failClosed = false }) => (failClosed ? failClosedPolicies : failOpenPolicies),
  variables: ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
})

export const cursor: AgentProfile = { adapter: cursorAdapter, host: cursorHost, importer: cursorImporter }
