import { writeFileSync } from 'node:fs'
import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** A server whose tools write, answer secrets, fail, take their time, crash. */
export function filesServer(): McpServer {
  const server = new McpServer(
    { name: 'files', version: '1.0.0' },
    {
      instructions: 'Files, and what may go wrong with them.',
      capabilities: { logging: {}, tasks: { requests: { tools: { call: {} } } } },
      taskStore: new InMemoryTaskStore(),
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  )
  tools(server)
  moreTools(server)
  server.registerResource('readme', 'file:///readme', { title: 'Read me' }, async ({ href }) => ({
    contents: [{ uri: href, text: 'ünïcode \u2028 and a secret: hunter2' }],
  }))
  const page = new ResourceTemplate('page://{n}', { list: undefined })
  server.registerResource('page', page, {}, async ({ href }, { n }) => ({
    contents: [{ uri: href, text: `page ${String(n)}` }],
  }))
  server.registerPrompt('review', { argsSchema: { code: z.string() } }, ({ code }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${code}` } }],
  }))
  return server
}

function tools(server: McpServer): void {
  const file = { inputSchema: { path: z.string(), text: z.string() } }
  server.registerTool('write_file', file, async ({ path, text: written }) => {
    writeFileSync(path, written)
    return text(`wrote ${written}`)
  })
  server.registerTool('read_secret', { inputSchema: {}, outputSchema: { secret: z.string() } }, async () => ({
    ...text('the secret is hunter2'),
    structuredContent: { secret: 'hunter2' },
  }))
  server.registerTool('fail', {}, async () => ({ ...text('it failed'), isError: true }))
  server.registerTool('echo', { inputSchema: { n: z.number() } }, async ({ n }) => text(`n is ${n}`))
  server.registerTool('environment', {}, async () => text(JSON.stringify(process.env)))
  server.registerTool('crash', {}, async () => process.exit(3))
  server.registerTool('hang', {}, () => new Promise<never>(() => {}))
}

function moreTools(server: McpServer): void {
  const size = { inputSchema: { size: z.number() } }
  server.registerTool('large', size, async ({ size: length }) => text('x'.repeat(length)))
  server.registerTool('picture', size, async ({ size: length }) => ({
    content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(length) }],
  }))
  server.registerTool('steps', {}, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken
    for (let progress = 1; progress <= 3 && progressToken !== undefined; progress++)
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3 },
      })
    return text('done')
  })
  server.experimental.tasks.registerToolTask(
    'later',
    { inputSchema: { path: z.string() }, execution: { taskSupport: 'required' } },
    {
      async createTask({ path }, { taskStore, taskRequestedTtl }) {
        const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? null, pollInterval: 5 })
        writeFileSync(path, 'later')
        await taskStore.storeTaskResult(task.taskId, 'completed', text('later, the secret is hunter2'))
        return { task }
      },
      async getTask(_, { taskId, taskStore }) {
        return taskStore.getTask(taskId)
      },
      async getTaskResult(_, { taskId, taskStore }) {
        return (await taskStore.getTaskResult(taskId)) as never
      },
    },
  )
}
