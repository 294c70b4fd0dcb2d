/** A tool of an MCP server as Claude Code names it, so that one matcher serves both. */
export function toolName(server: string, tool: string): string {
  return `mcp__${plain(server)}__${plain(tool)}`
}

function plain(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_')
}
