import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { listening } from './http-server.fixture.ts'
import { statelessFilesServer } from './stateless-server.fixture.ts'

type ServerNotifier = McpHttpHandler['notify']

/** The server of the packages of 2026 over HTTP. */
export async function statelessHttpFiles(
  options: { readonly legacy?: 'stateless' | 'reject'; readonly responseMode?: 'json' | 'sse' } = {},
): Promise<{ readonly url: string; readonly headers: Headers[]; readonly notify: ServerNotifier }> {
  const handler = createMcpHandler(() => statelessFilesServer(), options)
  onTestFinished(() => handler.close())
  const headers: Headers[] = []
  const url = await listening(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const given = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    )
    headers.push(new Headers(given))
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers: given,
        signal: gone.signal,
        ...(request.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk)
    } catch {
      // The client left.
    }
    response.end()
  })
  return { url, headers, notify: handler.notify }
}
