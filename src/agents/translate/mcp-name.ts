/** The name that hooks know a tool of an MCP server by, as Claude Code spells it. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${plain(server)}__${plain(tool)}`
}

function plain(name: string): string {
  return name.replace(/[^\w-]/g, '_')
}
