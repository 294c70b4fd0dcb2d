import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { filesServer } from './files-server.fixture.ts'

export interface HttpFiles {
  readonly url: string
  /** The headers of every request that arrived. */
  readonly headers: IncomingHttpHeaders[]
  readonly sessions: ReadonlyMap<string, StreamableHTTPServerTransport>
}

/** Listens on a port of its own until the test is over. */
export async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** The server of the tests over Streamable HTTP, as its library serves it. */
export async function httpFiles(kind: 'json' | 'events' | 'stateless'): Promise<HttpFiles> {
  const headers: IncomingHttpHeaders[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async () => {
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: kind === 'json',
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
      ...(kind === 'stateless' ? {} : { sessionIdGenerator: () => randomUUID() }),
      ...(kind === 'events' ? { eventStore: eventStore() } : {}),
    })
    await filesServer().connect(transport as never)
    return transport
  }
  const url = await listening(async (request, response) => {
    headers.push(request.headers)
    const body = request.method === 'POST' ? JSON.parse(await textOf(request)) : undefined
    const known = sessions.get(String(request.headers['mcp-session-id']))
    const transport = known ?? (await begin())
    await transport.handleRequest(request, response, body)
  })
  return { url, headers, sessions }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** Events by number, so that a stream can be taken up again. */
function eventStore(): EventStore {
  const events: { readonly stream: string; readonly message: JSONRPCMessage }[] = []
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message })
      return String(events.length - 1)
    },
    async replayEventsAfter(last, { send }) {
      const stream = events[Number(last)]?.stream ?? ''
      for (const [number, event] of events.entries())
        if (number > Number(last) && event.stream === stream && Object.keys(event.message).length > 0)
          await send(String(number), event.message)
      return stream
    },
  }
}
