import { request } from 'node:http'
import { expect, test } from 'vitest'
import { shared } from '../../gateway/running.fixture.ts'

const gateway = shared()
const AGENT = '/v1/agents/claude-code/PreToolUse'
const call = { session_id: 's1', tool_name: 'Bash', tool_input: { command: 'ls' } }
const event = { event: 'pre_tool_use', payload: call }

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Not by `fetch`, which tidies paths and headers up. */
function send(path: string, { method = 'POST', headers = {}, body = '' }: Sent): Promise<number | undefined> {
  const { url, token } = gateway()
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject).end(body)
  })
}

test.each<[string, number, Sent]>([
  ['as it should be', 200, {}],
  ['no token', 401, { headers: { authorization: '' } }],
  ['another token', 401, { headers: { authorization: 'Bearer x' } }],
  ['another host', 421, { headers: { host: 'evil.example' } }],
  ['a page of somebody else', 403, { headers: { origin: 'https://evil.example' } }],
  ['no JSON by its type', 415, { headers: { 'content-type': 'text/plain' } }],
  ['a form', 415, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ['no JSON', 400, { body: '{' }],
  ['half a character', 400, { body: Buffer.from([0x7b, 0xff, 0x7d]) }],
  ['nothing', 400, { body: ' ' }],
  ['too deep', 400, { body: `${'['.repeat(200)}${']'.repeat(200)}` }],
  ['too large', 413, { body: `"${'x'.repeat(9 * 1_048_576)}"` }],
])('both doors for events say the same to %s', async (_, status, sent) => {
  const [one, other] = [JSON.stringify(event), JSON.stringify(call)]
  expect([
    await send('/v1/dispatch', { body: one, ...sent }),
    await send(AGENT, { body: other, ...sent }),
  ]).toEqual([status, status])
})

test.each([
  [`${AGENT}?x=1`, 404],
  [`${AGENT}/`, 404],
  [`${AGENT}/x`, 404],
  ['/v1/agents//PreToolUse', 400],
  ['/v1/agents/claude-code', 404],
  ['/v1/agents/', 404],
  ['/v1/agents/claude-code/%50reToolUse', 404],
  ['/v1/agents/claude-code/Pre%2fToolUse', 404],
  ['/v1/agents/claude-code/../codex/PreToolUse', 404],
  ['/v1/agents/claude%2dcode/PreToolUse', 400],
  ['/v1/agents/__proto__/PreToolUse', 400],
  [`/v1/agents/claude-code/${'x'.repeat(65)}`, 404],
  [`${AGENT}?token=x`, 401],
  ['//v1/agents/claude-code/PreToolUse', 404],
])('only the very path is one: %s', async (path, status) => {
  expect(await send(path, { body: JSON.stringify(call) })).toBe(status)
})

test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is no way to ask', async (method) => {
  const status = await send(AGENT, { method })
  expect(status).toBeGreaterThanOrEqual(400)
})
