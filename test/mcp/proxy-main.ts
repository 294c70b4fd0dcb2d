import { runMain } from 'citty'
import { mcpProxyCommand } from '../../src/cli/mcp-proxy.ts'

await runMain(mcpProxyCommand)
