import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import { runsOf } from './runs.fixture.ts'

type Fields = Readonly<Record<string, unknown>>

/** A request as a receiver got it. */
export interface ReceivedHook {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: whatever the hook sends, for tests to look into
  readonly body: any
}

/** What the hooks of these tests do, as the body of a function that has the input of the hook in `p`. */
export const behaviours = {
  continue: 'return { action: "continue" }',
  change: `return { action: 'continue', ...(p.result
    ? { result: { result_data: { ...p.result.result_data, by: 'hook' } } }
    : { parameters: p.tool_input ? { ...p.tool_input, command: 'echo changed' } : { ...p.parameters, by: 'hook' } }) }`,
  bad: `return { action: 'continue', ...(p.result
    ? { result: { result_data: { id: 7 } } } : { parameters: { id: 7 } }) }`,
  block: 'return { action: "block", block_reason: "not on Fridays" }',
  fail: 'throw new Error("no luck")',
  nonsense: 'return { action: "BLOCK" }',
  slow: 'await wait(600000)',
  later: 'await new Promise((done) => setTimeout(done, 2500)); return { action: "continue" }',
} as const
export type Behaviour = keyof typeof behaviours

/** A receiver of http hooks: each path is a behaviour. */
export function hookReceiver() {
  const received: ReceivedHook[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url ?? ''
    const body = JSON.parse(text)
    received.push({ path, method: request.method ?? '', headers: request.headers, body })
    const source = Object.entries(behaviours).find(([name]) => path.startsWith(`/${name}`))?.[1]
    const wait = () => new Promise((resolve) => request.socket.once('close', resolve))
    try {
      const act = new Function('p', 'wait', `return (async () => { ${source} })()`)
      response.end(JSON.stringify(await act(body, wait)))
    } catch {
      // A client error is final; others are sent again.
      response.writeHead(400).end()
    }
  })
  let url = ''
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    received,
    url: (path: string) => `${url}/${path}`,
    /** What a path got, newest last. */
    at: (path: string) => received.filter((hook) => hook.path === `/${path}`),
  }
}

/** Agents that do the same, one for each behaviour: `hook-continue`, `hook-change`, … */
export async function saveHookAgents(gateway: Running): Promise<void> {
  const { agent } = runsOf(gateway)
  for (const [name, body] of Object.entries(behaviours)) await agent(`hook-${name}`, body)
}

/** A hook of a run with this behaviour. */
export function hookOf(
  type: 'agent' | 'http',
  behaviour: Behaviour,
  { receiver, ...more }: Fields & { readonly receiver: { url(path: string): string } },
): Fields {
  const target = type === 'agent' ? { agent_name: `hook-${behaviour}` } : { url: receiver.url(behaviour) }
  return { type, ...target, on_error: 'block', ...more }
}

export const hookEventsOf = (events: readonly Fields[]) =>
  events.filter(({ event_type }) => String(event_type).startsWith('hook_'))
