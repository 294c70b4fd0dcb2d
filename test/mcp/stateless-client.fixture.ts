import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import { childEnv, proxyMain, statelessServerArgv } from './proxied.fixture.ts'

/** `auto` falls back to older revisions, `pinned` does not, `legacy` knows no other. */
export type Negotiation = 'auto' | 'pinned' | 'legacy'

interface StatelessOptions {
  readonly negotiation?: Negotiation
  /** What the person answers to each question; without it, the client cannot ask. */
  readonly answers?: readonly ('accept' | 'decline' | { readonly name: string })[]
  readonly name?: string
}

interface StdioOptions extends StatelessOptions {
  readonly args?: readonly string[]
  readonly server?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The client of the packages of 2026. */
function statelessClient({ negotiation = 'pinned', answers, name = 'test-client' }: StatelessOptions = {}) {
  const mode = negotiation === 'pinned' ? { pin: '2026-07-28' } : negotiation
  const options: ClientOptions = {
    versionNegotiation: { mode },
    ...(answers === undefined ? {} : { capabilities: { elicitation: {} } }),
  }
  const client = new Client({ name, version: '2.3.4' }, options)
  const asked: string[] = []
  if (answers !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const answer = answers[asked.length] ?? 'decline'
      asked.push(params.message)
      if (typeof answer === 'object') return { action: 'accept', content: answer }
      return answer === 'accept' ? { action: 'accept', content: {} } : { action: answer }
    })
  onTestFinished(() => client.close())
  return { client, asked }
}

/** The client of the packages of 2026, through the proxy, to a real server on stdio. */
export async function statelessProxied(gateway: Pick<Running, 'socket'>, options: StdioOptions = {}) {
  const { args = [], server = statelessServerArgv, env = {} } = options
  const all = [proxyMain, '--socket', gateway.socket ?? '', ...args, '--', ...server]
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: all,
    env: childEnv(env),
    stderr: 'pipe',
  })
  let text = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const { client, asked } = statelessClient(options)
  await client.connect(transport)
  return { client, asked, stderr: () => text }
}

/** The same client over HTTP. */
export async function statelessConnected(
  url: string,
  options: StatelessOptions & { readonly headers?: Record<string, string> } = {},
) {
  const { client, asked } = statelessClient(options)
  const requestInit = { headers: options.headers ?? {} }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return { client, asked }
}
