/** A real MCP server with one tool for each thing that may happen; on stdio. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { filesServer } from './files-server.fixture.ts'

await filesServer().connect(new StdioServerTransport())
