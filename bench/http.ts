import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { Pool } from 'undici'
import type { HookContext } from '../src/engine/core/context.ts'
import type { HookDefinition } from '../src/engine/hook-definition.ts'
import { httpHandler } from '../src/handlers/http/http.ts'
import { type Figure, ratio } from './figure.ts'

const CALLS = 100
const ROUNDS = 100

/** A webhook through our handler, to the same post by a bare undici pool in the same run. */
export async function httpFigures(): Promise<Figure[]> {
  const receiver = fork(import.meta.filename, ['receiver'], { execArgv: [] })
  const origin = await new Promise<string>((resolve) =>
    receiver.once('message', (text) => resolve(String(text))),
  )
  const pool = new Pool(origin, { connections: 32 })
  const handler = httpHandler.create({ outbound: { allow: ['127.0.0.1'] } })
  const bare = barePost(pool)
  const ours = handlerPost(handler, `${origin}/hook`)
  const times = { bare: Number.POSITIVE_INFINITY, ours: Number.POSITIVE_INFINITY }
  // In turns, so that noise hits both alike.
  for (let round = 0; round < ROUNDS; round++) {
    times.bare = Math.min(times.bare, await each(bare))
    times.ours = Math.min(times.ours, await each(ours))
  }
  await Promise.all([pool.destroy(), handler.dispose()])
  receiver.kill()
  return [ratio('webhook through the http handler, to bare undici', times.ours, times.bare, 1.3)]
}

const payload = {
  tool_name: 'Bash',
  tool_input: { command: 'git status --short', description: 'x'.repeat(700) },
}

function barePost(pool: Pool): () => Promise<unknown> {
  const event = { hook_event_name: 'PreToolUse', event: 'pre_tool_use', event_id: 'e', depth: 0, ...payload }
  return async () => {
    const { body } = await pool.request({
      path: '/hook',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: new AbortController().signal,
    })
    return body.json()
  }
}

function handlerPost(handler: ReturnType<typeof httpHandler.create>, url: string): () => Promise<unknown> {
  const hook: HookDefinition = { id: 'h', event: 'pre_tool_use', handler_type: 'http', config: { url } }
  const config = handler.read({ url }, hook)
  return async () => {
    const context: HookContext = {
      event: 'pre_tool_use',
      id: 'e',
      time: 0,
      depth: 0,
      timeoutMs: 5_000,
      envelope: {},
      original: payload,
      signal: new AbortController().signal,
      report: () => undefined,
    }
    return handler.run({ config, payload, context, host: {}, hook })
  }
}

/** Nanoseconds per call, one after the other. */
async function each(run: () => Promise<unknown>): Promise<number> {
  const started = process.hrtime.bigint()
  for (let i = 0; i < CALLS; i++) await run()
  return Number(process.hrtime.bigint() - started) / CALLS
}

/** A process of its own, as receivers are: in ours its work would count on both sides. */
if (process.argv[2] === 'receiver') {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"decision":"allow","reason":"fine","continue":true}'))
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`)
  })
}
