import { type Dialect, failsClosed, failsOpen } from './dialect.ts'

const on = (event: string, ...names: readonly string[]) => ({ event, fields: { match: { names } } })

/** Cursor's `hooks.json`. */
export const cursor: Dialect = {
  layout: 'flat',
  // Its older events are about one tool each.
  events: {
    beforeShellExecution: on('pre_tool_use', 'Bash'),
    afterShellExecution: on('post_tool_use', 'Bash'),
    beforeReadFile: on('pre_tool_use', 'Read'),
    beforeMCPExecution: { event: 'pre_tool_use', fields: { matcher: '^(?:mcp__|MCP:)' } },
    afterMCPExecution: { event: 'post_tool_use', fields: { matcher: '^(?:mcp__|MCP:)' } },
  },
  timeoutMs: ({ timeout = 60 }) => timeout * 1_000,
  policies: ({ failClosed = false }) => (failClosed ? failsClosed : failsOpen),
  variables: ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
}
