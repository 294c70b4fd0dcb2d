import { Agent, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'

export interface Sent {
  readonly status: number
  readonly retryAfter: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: whatever the route answers, for tests to look into
  readonly body: any
}

export interface Sender {
  dispatch(event: string, payload: unknown): Promise<Sent>
}

/** Dispatches over so many kept connections, which costs less than the gateway's own part. */
export function sender({ url }: Running, token: string, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  onTestFinished(() => agent.destroy())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    dispatch: (event, payload) =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}/v1/dispatch`, { method: 'POST', agent, headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => {
            const { statusCode: status = 0, headers: answered } = response
            resolve({ status, retryAfter: answered['retry-after'], body: JSON.parse(text) })
          })
        })
        sent.on('error', reject)
        sent.end(JSON.stringify({ event, payload }))
      }),
  }
}
