import { writeFileSync } from 'node:fs'
import { acceptedContent, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** The server of the tests as the packages of 2026 make it. It serves revision 2026-07-28 and older ones. */
export function statelessFilesServer(description = 'Writes a file.'): McpServer {
  const server = new McpServer({ name: 'files', version: '2.0.0' })
  const file = { description, inputSchema: z.object({ path: z.string(), text: z.string() }) }
  server.registerTool('write_file', file, async ({ path, text: written }) => {
    writeFileSync(path, written)
    return text(`wrote ${written}`)
  })
  const secret = { outputSchema: z.object({ secret: z.string() }) }
  server.registerTool('read_secret', secret, async () => ({
    ...text('the secret is hunter2'),
    structuredContent: { secret: 'hunter2' },
  }))
  server.registerTool('fail', {}, async () => ({ ...text('it failed'), isError: true }))
  server.registerTool('echo', { inputSchema: z.object({ n: z.number() }) }, async ({ n }) =>
    text(`n is ${n}`),
  )
  headerTool(server)
  slowTools(server)
  askingTool(server)
  return server
}

/** Its argument `text` is repeated in a header. */
function headerTool(server: McpServer): void {
  const repeated = { type: 'string', 'x-mcp-header': 'Text' } as const
  const inputSchema = fromJsonSchema<{ path: string; text: string }>({
    type: 'object',
    properties: { path: { type: 'string' }, text: repeated },
  })
  server.registerTool('send_file', { inputSchema }, async ({ text: sent }) => text(`sent ${sent}`))
}

function slowTools(server: McpServer): void {
  server.registerTool('steps', {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken
    for (let progress = 1; progress <= 3 && progressToken !== undefined; progress++)
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3 },
      })
    return text('done')
  })
  const file = { inputSchema: z.object({ path: z.string() }) }
  server.registerTool('hang', file, async ({ path }, context) => {
    writeFileSync(path, 'began')
    await new Promise<void>((resolve) => {
      context.mcpReq.signal.addEventListener('abort', () => resolve())
    })
    writeFileSync(path, 'cancelled')
    return text('never read')
  })
}

/** Asks the client itself before it writes. */
function askingTool(server: McpServer): void {
  const file = { inputSchema: z.object({ path: z.string() }) }
  server.registerTool('sign', file, async ({ path }, context) => {
    const name = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, 'signer')?.name
    if (name === undefined)
      return inputRequired({
        inputRequests: {
          signer: inputRequired.elicit({
            message: 'Who signs?',
            requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
          }),
        },
        requestState: 'state of the server',
      })
    writeFileSync(path, `${name}, ${context.mcpReq.requestState()}`)
    return text(`signed by ${name}`)
  })
}
