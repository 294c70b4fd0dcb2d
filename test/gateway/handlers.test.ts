import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BadReceiver, badCommands, badReceiver } from '../../src/testing/index.ts'
import { exec } from './judge.fixture.ts'
import { type Running, running, shared } from './running.fixture.ts'

let receiver: BadReceiver
beforeAll(async () => {
  receiver = await badReceiver()
})
afterAll(() => receiver.close())

const inside = { outbound: { allow: ['127.0.0.1'] } }
const ran: string[] = []
const gateway = shared(() => ({
  ...inside,
  functions: {
    note: (payload: { tool_input: { cmd?: string } }) => void ran.push(payload.tool_input.cmd ?? ''),
    never: () => new Promise(() => {}),
    rewrite: () => ({ kind: 'allow', input: { cmd: 'ls -l' } }),
  },
}))

type Fields = Readonly<Record<string, unknown>>

/** Sends one event past hooks that are there for it alone. */
async function past(hooks: readonly Fields[], payload: unknown = exec('ls'), more: Fields = {}) {
  const ids: string[] = []
  for (const hook of hooks) ids.push(await gateway().hook({ event: 'pre_tool_use', ...hook }))
  const { body } = await gateway().dispatch(String(hooks[0]?.event ?? 'pre_tool_use'), payload, more)
  for (const id of ids) await gateway().call('DELETE', `/v1/hooks/${id}`)
  return { ids, eventId: body.event_id, decision: body.decision }
}

const command = (line: string, config: Fields = {}) => ({
  handler_type: 'command',
  config: { command: line, ...config },
})
const webhook = (path: string, config: Fields = {}) => ({
  handler_type: 'http',
  config: { url: `${receiver.origin}${path}`, ...config },
})

describe('GC-44 GC-46 commands on Lite', () => {
  test.each([
    ['exit 0 without output allows', badCommands.silent, { kind: 'allow' }],
    ['exit 0 with text allows', badCommands.speaksText, { kind: 'allow' }],
    ['exit 0 with continue false blocks', `echo '{"continue":false}'`, { kind: 'block' }],
    ['exit 2 blocks with stderr', badCommands.exitsWithTwo, { kind: 'block', reason: 'forbidden' }],
    ['another exit closes the gate', badCommands.exitsWithOne, { kind: 'block', code: 'process.exit' }],
    ['a missing program closes the gate', badCommands.notThere, { kind: 'block' }],
  ])('GC-46 %s', async (_, line, decision) => {
    expect((await past([command(line)])).decision).toMatchObject(decision)
  })

  test('GC-44 GC-48 stdin is the event; only listed variables are passed; cwd is where it runs', async () => {
    const line = `read event; case "$event" in *'"tool_name":"exec"'*) ;; *) exit 9;; esac
      [ -z "$HOOKHELM_HOME$NOT_LISTED" ] || exit 8; [ "$PWD" = / ] || exit 7; exit 2`
    process.env.NOT_LISTED = 'leaks'
    const { decision } = await past([command(line, { cwd: '/', allowed_env_vars: ['LANG'] })])
    delete process.env.NOT_LISTED
    expect(decision).toMatchObject({ kind: 'block' })
    expect(decision.code).toBeUndefined()
  })
})

describe('GC-51 webhooks', () => {
  test('GC-51 the event is posted as JSON, GC-57 context and rewrites of the answer arrive', async () => {
    const { decision } = await past([webhook('/context'), webhook('/rewrite')])
    expect(decision).toMatchObject({ kind: 'allow', input: { command: 'ls' } })
    expect(JSON.stringify(decision)).toContain('mind the gap')
    const sent = receiver.received.find(({ path }) => path === '/context')
    expect(sent?.method).toBe('POST')
    expect(sent?.headers['content-type']).toBe('application/json')
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({ event: 'pre_tool_use', ...exec('ls') })
  })

  test.each([
    ['/html', 'block'],
    ['/block', 'block'],
    ['/continue-false', 'block'],
    ['/400', 'block'],
    ['/redirect-self', 'block'],
    ['/huge', 'block'],
  ])('GC-56 %s means %s', async (path, kind) => {
    expect((await past([webhook(path)])).decision.kind).toBe(kind)
  })

  test('GC-97 GC-53 an Authorization header and a secret by name are sent, and nowhere else to be found', async () => {
    const own = await running(inside)
    const [typed, named] = ['Bearer plain-canary-7f3a', 'named-canary-91bc']
    await own.call('PUT', '/v1/secrets/RECEIVER_KEY', { value: named })
    const headers = { Authorization: typed, 'X-Api-Key': 'secret:RECEIVER_KEY', 'X-Plain': 'visible' }
    const hookId = await own.hook({ event: 'pre_tool_use', ...webhook('/allow', { headers }) })
    const before = receiver.received.length
    expect((await own.dispatch('pre_tool_use', exec('ls'))).body.decision).toEqual({ kind: 'allow' })
    expect(receiver.received[before]?.headers).toMatchObject({ authorization: typed, 'x-api-key': named })
    const shown = (await own.call('GET', `/v1/hooks/${hookId}`)).body
    expect(shown.hook.config.headers).toEqual({
      Authorization: '********',
      'X-Api-Key': 'secret:RECEIVER_KEY',
      'X-Plain': '********',
    })
    const answers = [
      shown,
      (await own.call('GET', '/v1/hooks')).body,
      (await own.call('GET', '/v1/secrets')).body,
    ]
    expect(JSON.stringify(answers)).not.toMatch(/canary/)
    // Sent back as it was shown, it stays what it is; for another address it must be given again.
    const update = (config: object) => own.call('PATCH', `/v1/hooks/${hookId}`, { updates: { config } })
    expect((await update(shown.hook.config)).status).toBe(200)
    expect((await update({ ...shown.hook.config, url: 'https://thief.example/' })).status).toBe(400)
    await own.dispatch('pre_tool_use', exec('ls'))
    expect(receiver.received.at(-1)?.headers.authorization).toBe(typed)
    await own.close()
    for (const file of readdirSync(own.home, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        expect(readFileSync(join(file.parentPath, file.name), 'latin1')).not.toMatch(/canary/)
  })
})

describe('timeouts', () => {
  const slow = { handler_type: 'function', config: { name: 'never' }, timeout_ms: 50 }
  const after = { handler_type: 'function', config: { name: 'note' }, priority: -1 }

  test('GC-27 GC-29 a hook that does not answer in time blocks, or is passed by with on_timeout allow', async () => {
    ran.length = 0
    expect((await past([slow, after])).decision).toMatchObject({ kind: 'block', code: 'handler.timeout' })
    expect(ran).toEqual([])
    expect((await past([{ ...slow, on_timeout: 'allow' }, after])).decision.kind).toBe('allow')
    expect(ran).toEqual(['ls'])
  })

  test('GC-10 GC-27 a timeout is 5 s unless it is said, and at most 10 s', async () => {
    const create = (timeout_ms: number) =>
      gateway().call('POST', '/v1/hooks', { event: 'stop', scope: 'tenant', ...after, timeout_ms })
    for (const ms of [-1, 10_001])
      expect(await create(ms)).toMatchObject({
        status: 400,
        body: { error: { details: { code: 'config.range' } } },
      })
    for (const [given, kept] of [
      [0, 5_000],
      [10_000, 10_000],
    ] as const) {
      const { hookId } = (await create(given)).body
      expect((await gateway().call('GET', `/v1/hooks/${hookId}`)).body.hook.timeout_ms).toBe(kept)
      await gateway().call('DELETE', `/v1/hooks/${hookId}`)
    }
  })

  test('GC-50 a command is ended with its children when its time is over', async () => {
    const { decision } = await past([{ ...command(badCommands.stubbornGrandchild), timeout_ms: 100 }])
    expect(decision).toMatchObject({ kind: 'block', code: 'process.timeout' })
  })
})

describe('the chain', () => {
  test('GC-87 the next hook sees what the one before made of the input', async () => {
    ran.length = 0
    const { decision } = await past([
      { handler_type: 'function', config: { name: 'rewrite' }, priority: 9 },
      { handler_type: 'function', config: { name: 'note' } },
    ])
    expect(decision).toMatchObject({
      kind: 'allow',
      input: { cmd: 'ls -l' },
    })
    expect(ran).toEqual(['ls -l'])
  })

  test('GC-87 a chain that blocks answers no rewrite', async () => {
    const source = `function handle() { return { decision: 'block', reason: 'no' } }`
    const { decision } = await past([
      { handler_type: 'function', config: { name: 'rewrite' }, priority: 9 },
      { handler_type: 'script', config: { source } },
    ])
    expect(decision).toMatchObject({ kind: 'block', reason: 'no' })
    expect(decision).not.toHaveProperty('input')
  })

  test('GC-19 GC-20 GC-22 matcher and if_expr choose, and an event without a tool matches no tool', async () => {
    const no = `function handle() { return { decision: 'block', reason: 'matched' } }`
    const script = { handler_type: 'script', config: { source: no } }
    const kind = async (hook: Fields, payload: unknown = exec('ls'), more: Fields = {}) =>
      (await past([{ ...script, ...hook }], payload, more)).decision.kind
    expect(await kind({ matcher: '^(exec|shell)$' })).toBe('block')
    expect(await kind({ matcher: 'xe' })).toBe('block')
    expect(await kind({ matcher: '^Write$' })).toBe('allow')
    const long = { if_expr: 'tool_name == "exec" && size(tool_input.cmd) > 80' }
    expect(await kind(long)).toBe('allow')
    expect(await kind(long, exec('x'.repeat(81)))).toBe('block')
    const deep = { envelope: { depth: 2 } }
    expect([
      await kind({ if_expr: 'depth > 1' }),
      await kind({ if_expr: 'depth > 1' }, exec('ls'), deep),
    ]).toEqual(['allow', 'block'])
    expect(await kind({ event: 'user_prompt_submit', matcher: 'exec' }, { prompt: 'exec' })).toBe('allow')
  })

  test('GC-1 the three blocking events of the seed block, the others do not', async () => {
    const source = `function handle() { return { decision: 'block', reason: 'no' } }`
    const kinds: Record<string, string> = {}
    const payloads: Record<string, unknown> = {
      session_start: { source: 'startup' },
      user_prompt_submit: { prompt: 'hello' },
      pre_tool_use: exec('ls'),
      post_tool_use: { ...exec('ls'), tool_response: 'ok' },
      subagent_start: {},
      subagent_stop: {},
    }
    for (const [event, payload] of Object.entries(payloads))
      kinds[event] = (
        await past([{ event, handler_type: 'script', config: { source } }], payload)
      ).decision.kind
    expect(kinds).toEqual({
      session_start: 'allow',
      user_prompt_submit: 'block',
      pre_tool_use: 'block',
      post_tool_use: 'allow',
      subagent_start: 'block',
      subagent_stop: 'allow',
    })
  })
})

test('GC-90 GC-91 GC-85 the builtin pii-redactor, once switched on, takes addresses and numbers out', async () => {
  const own: Running = await running()
  const { body } = await own.call('GET', '/v1/hooks?scope=global')
  for (const { id, source, enabled } of body.hooks) {
    expect({ source, enabled }).toEqual({ source: 'builtin', enabled: false })
    await own.call('POST', `/v1/hooks/${id}/toggle`, { enabled: true })
  }
  const call = await own.dispatch('pre_tool_use', {
    tool_name: 'exec',
    tool_input: { command: 'mail bob@example.com', other: 'bob@example.com' },
  })
  expect(call.body.decision.input).toEqual({
    command: 'mail [REDACTED_EMAIL]',
    other: 'bob@example.com',
  })
  const prompt = await own.dispatch('user_prompt_submit', { prompt: 'call +49 30 1234567' })
  expect(prompt.body.decision.input).toBe('call [REDACTED_PHONE]')
})
