import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createAgentHooks } from '../../src/sdk/agent-hooks.ts'
import { as, hookhelm, socketOf, tokenFor } from '../gateway/doors.fixture.ts'
import { type Running, running, shared } from '../gateway/running.fixture.ts'
import { openLines } from '../gateway/socket.fixture.ts'
import { proxied } from '../mcp/proxied.fixture.ts'
import { blocking, scratch, trustFileAt, write } from './repository.fixture.ts'

/** Sends one tool call through a door and resolves with the whole answer as text. `cwd` names a folder or none. */
type Door = (gateway: Running, cwd: string | undefined) => Promise<string>

const call = { event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: { command: 'ls' } } }
const inFolder = (cwd: string | undefined) => (cwd === undefined ? {} : { envelope: { cwd } })
const native = (cwd: string | undefined) => ({
  session_id: randomUUID(),
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 't1',
  ...(cwd === undefined ? {} : { cwd }),
})

async function line(gateway: Running, hello: object, request: object): Promise<string> {
  const lines = openLines(gateway.socket ?? '', { hookhelm: 1, ...hello })
  lines.send({ id: 1, ...request })
  return JSON.stringify(await lines.next())
}

const doors: Readonly<Record<string, Door>> = {
  'POST /v1/dispatch': async (gateway, cwd) =>
    JSON.stringify((await gateway.call('POST', '/v1/dispatch', { ...call, ...inFolder(cwd) })).body),
  'POST /v1/dispatch with the folder in the payload': async (gateway, cwd) => {
    const payload = { ...call.payload, ...(cwd === undefined ? {} : { cwd }) }
    return JSON.stringify((await gateway.call('POST', '/v1/dispatch', { ...call, payload })).body)
  },
  'POST /v1/dispatch with the token of an agent': async (gateway, cwd) => {
    const { token } = await tokenFor(gateway, { role: 'agent' })
    const body = { ...call, ...inFolder(cwd) }
    return JSON.stringify((await gateway.call('POST', '/v1/dispatch', body, as(token))).body)
  },
  'POST /v1/agents': async (gateway, cwd) =>
    JSON.stringify((await gateway.call('POST', '/v1/agents/claude-code/PreToolUse', native(cwd))).body),
  'the socket': (gateway, cwd) => line(gateway, {}, { ...call, ...inFolder(cwd) }),
  'the socket with a token': (gateway, cwd) =>
    line(gateway, { token: gateway.token }, { ...call, ...inFolder(cwd) }),
  'the socket of a coding agent': (gateway, cwd) =>
    line(gateway, { agent: 'claude-code' }, { event: 'PreToolUse', native: native(cwd) }),
  'the socket of a coding agent with a token': (gateway, cwd) =>
    line(
      gateway,
      { agent: 'claude-code', token: gateway.token },
      { event: 'PreToolUse', native: native(cwd) },
    ),
  WebSocket: async (gateway, cwd) =>
    JSON.stringify(await (await socketOf(gateway)).call('dispatch', { ...call, ...inFolder(cwd) })),
  'hookhelm mcp-proxy': async (gateway, cwd = scratch()) => {
    const { client } = await proxied(gateway, { args: ['--cwd', cwd] })
    return JSON.stringify(await client.callTool({ name: 'echo', arguments: { n: 1 } }))
  },
  'hookhelm mcp-proxy by address': async (gateway, cwd = scratch()) => {
    const env = { HOOKHELM_TOKEN: gateway.token }
    const { client } = await proxied(gateway, { args: ['--url', gateway.url, '--cwd', cwd], env })
    return JSON.stringify(await client.callTool({ name: 'echo', arguments: { n: 1 } }))
  },
  'an SDK': async (gateway, cwd) => {
    const client = createClient({ url: gateway.url, token: gateway.token })
    const hooks = createAgentHooks({ client, ...(cwd === undefined ? {} : { cwd }) }, 'test')
    const decision = await hooks.gate('pre_tool_use', call.payload)
    await client.close()
    return JSON.stringify(decision)
  },
}

/** What is cleaned when all tests are over. */
const cleaning: (() => void)[] = []
afterAll(() => {
  for (const clean of cleaning) clean()
})
const sharedFolder = () => scratch((clean) => void cleaning.push(clean))

const everyDoor = test.each(Object.entries(doors))

describe('ruling 43', () => {
  describe('a locked block of the administrator applies', () => {
    const gateway = shared(() => {
      const managed = sharedFolder()
      write(join(managed, 'hooks.yaml'), blocking('the administrator says no'))
      return { env: { HOOKHELM_MANAGED_DIR: managed } }
    })
    everyDoor('at %s', async (_, ask) => {
      expect(await ask(gateway(), undefined)).toContain('the administrator says no')
    })
  })

  describe('a block of the user applies', () => {
    const gateway = shared(() => {
      const home = sharedFolder()
      write(join(home, 'hooks.yaml'), blocking('I say no'))
      return { home }
    })
    everyDoor('at %s', async (_, ask) => {
      expect(await ask(gateway(), undefined)).toContain('I say no')
    })
  })

  describe('a trusted block of the repository applies to an event that names a folder in it', () => {
    const repository = () => join(gateway().home, 'repository')
    const gateway = shared(() => {
      const home = sharedFolder()
      const text = blocking('the repository says no')
      trustFileAt(home, write(join(home, 'repository', '.hookhelm', 'hooks.yaml'), text), text)
      return { home }
    })
    everyDoor('at %s', async (_, ask) => {
      expect(await ask(gateway(), repository())).toContain('the repository says no')
      expect(await ask(gateway(), scratch())).not.toContain('the repository says no')
    })
  })

  describe('a broken file of the user blocks and is named, with a code of its own', () => {
    const gateway = shared(() => {
      const home = sharedFolder()
      write(join(home, 'hooks.yaml'), 'hooks:\n  - event: pre_tol_use\n    handler_type: script\n')
      return { home }
    })
    everyDoor('at %s', async (_, ask) => {
      expect(await ask(gateway(), undefined)).toContain('pre_tol_use')
    })
  })
})

test('a broken file of the user makes the status red, with file, line and problem, until it is mended', async () => {
  const home = scratch()
  const file = write(join(home, 'hooks.yaml'), 'hooks:\n  - event: pre_tol_use\n    handler_type: script\n')
  const gateway = await running({ home })
  const { body } = await gateway.dispatch(call.event, call.payload)
  expect(body.decision).toMatchObject({ kind: 'block', code: 'config.hook_file' })
  const status = await hookhelm(gateway, ['status'])
  expect(status.stdout).toContain('NOT READY')
  expect(status.stdout).toContain(`${file}:2:12`)
  expect(status.stdout).toContain('pre_tol_use')
  write(file, blocking('mended'))
  const mended = await gateway.dispatch(call.event, call.payload)
  expect(mended.body.decision).toMatchObject({ kind: 'block', reason: 'mended' })
  expect((await gateway.call('GET', '/v1/status')).body.ready).toBe(true)
})

test('the folder of a session applies to its events that name none', async () => {
  const home = scratch()
  const repository = join(home, 'repository')
  const text = blocking('the repository says no')
  trustFileAt(home, write(join(repository, '.hookhelm', 'hooks.yaml'), text), text)
  const gateway = await running({ home })
  const session = { session: 'one' }
  await gateway.dispatch(
    'session_start',
    { source: 'startup' },
    { envelope: { ...session, cwd: repository } },
  )
  const later = await gateway.dispatch(call.event, call.payload, { envelope: session })
  expect(later.body.decision).toMatchObject({ reason: 'the repository says no' })
  const moved = { envelope: { ...session, cwd: scratch() } }
  const elsewhere = await gateway.dispatch(call.event, call.payload, moved)
  expect(elsewhere.body.decision).toMatchObject({ reason: 'the repository says no' })
})

test('a command of the user’s file runs although the folder of the event is on another machine', async () => {
  const home = scratch()
  const config = '{ command: "echo no from $PWD >&2; exit 2" }'
  write(
    join(home, 'hooks.yaml'),
    `hooks:\n  - { id: guard, event: pre_tool_use, handler_type: command, config: ${config} }\n`,
  )
  const gateway = await running({ home })
  const envelope = { cwd: join(home, 'not', 'here') }
  const { body } = await gateway.dispatch(call.event, call.payload, { envelope })
  expect(body.decision).toMatchObject({ kind: 'block', reason: `no from ${home}` })
})

describe('another tenant', () => {
  const repositoryBlock = async (options: object) => {
    const home = scratch()
    const repository = join(home, 'repository')
    const text = blocking('the repository says no')
    trustFileAt(home, write(join(repository, '.hookhelm', 'hooks.yaml'), text), text)
    write(join(home, 'hooks.yaml'), blocking('I say no').replace('id: guard', 'id: mine'))
    const gateway = await running({ home, ...options })
    const { body: tenant } = await gateway.call('POST', '/v1/tenants', { name: 'other', slug: 'other' })
    const { token } = await tokenFor(gateway, { role: 'agent' }, tenant.tenantId ?? tenant.id)
    const body = { ...call, envelope: { cwd: repository } }
    const dispatched = await gateway.call('POST', '/v1/dispatch', body, as(token))
    const agent = await gateway.call(
      'POST',
      '/v1/agents/claude-code/PreToolUse',
      native(repository),
      as(token),
    )
    rmSync(join(home, 'hooks.yaml'))
    return [dispatched, agent].map(({ body: answer }) => JSON.stringify(answer))
  }

  test('of a standard gateway gets no file of the machine run, whatever folder it names', async () => {
    for (const answer of await repositoryBlock({ edition: 'standard' })) {
      expect(answer).not.toContain('the repository says no')
      expect(answer).not.toContain('I say no')
    }
  })
})
