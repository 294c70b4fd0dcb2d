import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Running, running } from '../gateway/running.fixture.ts'

const AT_ONCE = 32
/** Listeners, timers and buffers of the test itself come and go. */
const FEW = 20

/** The same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const event = { event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: { command: 'ls' } } }
const values: readonly unknown[] = [
  ...[null, true, -1, 1e308, '', '\u0000', '\ud800', '__proto__', [], {}, [[[[]]]], 'x'.repeat(70_000)],
  ...[{ toString: 1 }, { __proto__: null }, { constructor: { prototype: {} } }, 'NaN', '../../etc/passwd'],
]
const bytes = [
  '\u0000',
  '\r\n',
  '\n',
  '{',
  '}',
  '[',
  '"',
  '\\',
  '\u00ff',
  ' ',
  ',',
  ':',
  '%00',
  '\u001b',
  '0x',
  '-',
]

/** A request with one thing that is not as it should be. */
function broken(pick: (below: number) => number): string {
  const one = <T>(of: readonly T[]) => of[pick(of.length)]
  if (pick(2) === 0) {
    const names = [
      'event',
      'payload',
      'envelope',
      'idempotency_key',
      'within_ms',
      'method',
      'params',
      'id',
      'type',
    ]
    return JSON.stringify({ ...event, type: 'req', [one(names) ?? '']: one(values) })
  }
  const text = JSON.stringify(event)
  const at = pick(text.length)
  return pick(2) === 0 ? text.slice(0, at) : text.slice(0, at) + one(bytes) + text.slice(at + pick(3))
}

/** Sends bytes and resolves with the statuses of the answers, once the gateway closes or says nothing more. */
function sendRaw(open: () => Socket, text: string): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const socket = open()
    let answer = ''
    const end = () => {
      socket.destroy()
      resolve([...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status)))
    }
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', end).on('close', end)
    // A request that promises more than it sends is left waiting by right.
    socket.setTimeout(200, end)
    socket.write(text, 'latin1')
    socket.end()
  })
}

function httpRequest(gateway: Running, pick: (below: number) => number): string {
  const one = <T>(of: readonly T[]): T => of[pick(of.length)] as T
  const body = broken(pick)
  const paths = [
    '/v1/dispatch',
    '/v1/agents/claude-code/PreToolUse',
    '/v1/hooks',
    '/v1/approvals',
    '/sessions/x',
    '/mcp',
  ]
  const lengths = [
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    '',
  ]
  const types = [
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    '',
    'multipart/form-data',
  ]
  const lines = [
    `${one(['POST', 'PUT', 'GET', 'PATCH', 'DELETE', 'BREW', 'post'])} ${one(paths)}${one(['', '?', '?a=%', '/..', '//', '/%zz'])} HTTP/1.1`,
    `Host: ${new URL(gateway.url).host}`,
    one([
      `Authorization: Bearer ${gateway.token}`,
      'Authorization: Bearer',
      'Cookie: hookhelm=%',
      'X: \u00ff',
    ]),
    `Content-Type: ${one(types)}`,
    one(lengths),
    one([
      'Connection: close',
      'Connection: keep-alive',
      'Expect: 100-continue',
      'Upgrade: h2c',
      'X-Hookhelm-Tenant: ..',
    ]),
  ]
  return `${lines.filter((line) => line !== '').join('\r\n')}\r\n\r\n${body}`
}

/** So many requests that are not as they should be, through every door. */
export function malformedRequests(count: number, seed = 1): void {
  test(`${count} malformed requests at every door: none is an error of the gateway, none stays behind, and the next call is decided`, async () => {
    const gateway = await running()
    const pick = numbers(seed)
    const port = Number(new URL(gateway.url).port)
    const handles = () => process.getActiveResourcesInfo().length
    const before = handles()
    const statuses = new Map<number, number>()
    const overHttp = async () => {
      const text = httpRequest(gateway, pick)
      for (const status of await sendRaw(() => connect(port, '127.0.0.1'), text)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status >= 500) expect([status, text]).toEqual(['below 500', text])
      }
    }
    const overSocket = async () => {
      const hello = pick(4) === 0 ? broken(pick) : '{"hookhelm":1}'
      await sendRaw(() => connect({ path: gateway.socket ?? '' }), `${hello}\n${broken(pick)}\n`)
    }
    const overWebSocket = () =>
      new Promise<void>((resolve) => {
        const ws = new WebSocket(`${gateway.url.replace('http', 'ws')}/ws`, {
          headers: { authorization: `Bearer ${gateway.token}` },
        })
        ws.on('error', () => resolve()).on('close', () => resolve())
        ws.on('open', () => {
          for (let index = 0; index < 8; index++) ws.send(broken(pick))
          ws.close()
        })
      })
    let left = count
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let index = left--; index > 0; index = left--) {
          if (index % 8 === 0) await overWebSocket()
          else if (index % 3 === 0) await overSocket()
          else await overHttp()
        }
      }),
    )
    expect((await gateway.dispatch('pre_tool_use', event.payload)).body.decision).toEqual({ kind: 'allow' })
    expect(gateway.logged.filter(({ name }) => name === 'gateway.failed')).toEqual([])
    await gateway.until(
      async () => handles(),
      (now) => now <= before + FEW,
    )
    process.stdout.write(`${[...statuses].map(([status, times]) => `${status}: ${times}`).join(', ')}\n`)
  }, 1_800_000)
}
