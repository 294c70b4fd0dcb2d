import { runMain } from 'citty'
import { mcpProxyCommand } from '../../src/cli/mcp/mcp-proxy.ts'

await runMain(mcpProxyCommand)
