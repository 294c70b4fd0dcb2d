import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runCommand } from 'citty'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  admin,
  master,
  openTestMethods,
  type TestMethods,
} from '../../../test/gateway/test-methods.fixture.ts'
import { errorReply } from '../../gateway/doors/http/error-reply.ts'
import type { Methods } from '../../gateway/methods.ts'
import { nounCommand, singleCommand } from './method-command.ts'

let methods: TestMethods
let server: Server
let url: string
beforeAll(async () => {
  methods = await openTestMethods()
  // As much of a gateway as the command line sees of it.
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const name = request.url?.replace('/v1/call/', '') as keyof Methods
    const caller = request.headers.authorization === 'Bearer hh_master' ? master : admin
    response.setHeader('content-type', 'application/json')
    try {
      const params: unknown = JSON.parse(Buffer.concat(chunks).toString())
      response.end(JSON.stringify(await methods.call(name, params, caller)))
    } catch (thrown) {
      const { status, body } = errorReply(thrown, () => {})
      response.statusCode = status
      response.end(JSON.stringify({ error: body }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await methods.close()
})

let out = ''
let err = ''
beforeEach(() => {
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text)
    return true
  })
  vi.stubEnv('HOOKHELM_URL', url)
  vi.stubEnv('HOOKHELM_TOKEN', 'hh_admin')
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  process.exitCode = undefined
})

/** Runs a command line and answers its exit code. */
async function hookhelm(...words: readonly string[]): Promise<number> {
  out = ''
  err = ''
  const [noun = '', ...rest] = words
  const how = { rawArgs: [...rest] }
  if (noun === 'status') await runCommand(singleCommand(noun), how)
  else await runCommand(nounCommand(noun), how)
  return Number(process.exitCode)
}

const hook = JSON.stringify({
  event: 'pre_tool_use',
  handler_type: 'http',
  scope: 'tenant',
  config: { url: 'https://safety.example/check' },
})

describe('commands that talk to a gateway', () => {
  test('a hook is made, listed, changed, switched and deleted', async () => {
    expect(
      await hookhelm('hooks', 'create', '--data', hook, '--name', 'guard', '--priority', '5', '--json'),
    ).toBe(0)
    const { hookId } = JSON.parse(out) as { hookId: string }
    await hookhelm('hooks', 'list', '--event', 'PreToolUse')
    expect(out).toMatch(/^hook +event +handler_type +scope/)
    expect(out).toMatch(/^guard +pre_tool_use/m)
    expect(out).not.toContain(hookId)
    await hookhelm('hooks', 'update', hookId, '--data', 'matcher: ^exec$')
    await hookhelm('hooks', 'get', hookId, '--json')
    expect(JSON.parse(out)).toMatchObject({
      hook: { name: 'guard', priority: 5, matcher: '^exec$', version: 2 },
    })
    expect(await hookhelm('hooks', 'toggle', hookId, '--no-enabled')).toBe(0)
    expect(out).toContain('false')
    await hookhelm('hooks', 'list', '--enabled=false', '--json')
    expect(JSON.parse(out)).toMatchObject({ hooks: [{ id: hookId }] })
    expect(await hookhelm('hooks', 'delete', 'guard')).toBe(0)
    expect(out).toContain(hookId)
  })

  test('a hook is tried out', async () => {
    const source = 'function handle(event) { return { decision: "block", reason: event.toolName } }'
    const script = { event: 'pre_tool_use', handler_type: 'script', scope: 'tenant', config: { source } }
    const sample = '{"toolName":"exec"}'
    expect(await hookhelm('hooks', 'test', '--data', JSON.stringify(script), '--sample-event', sample)).toBe(
      0,
    )
    expect(out).toMatch(/decision +block/)
    expect(out).toMatch(/reason +exec/)
  })

  test('status, budgets, settings, history and deliveries', async () => {
    await hookhelm('status')
    expect(out).toContain('lite edition: ready')
    await hookhelm('budgets', 'set', '--total', '500')
    expect(out).toMatch(/budget_total +500/)
    await hookhelm('settings', 'set', '--data', 'default_model: m')
    expect(out).toMatch(/default_model +m +tenant/)
    await hookhelm('hooks', 'history', '--limit', '5')
    expect(out).toBe('none\n')
    await hookhelm('deliveries', 'replay', '--all')
    expect(out).toMatch(/replayed +0/)
    await hookhelm('tokens', 'create', '--name', 'ci', '--role', 'viewer')
    expect(out).toMatch(/token +hh_/)
  })

  test('an audit that does not hold ends with 1', async () => {
    vi.stubEnv('HOOKHELM_TOKEN', 'hh_master')
    expect(await hookhelm('audit', 'verify')).toBe(0)
    const broken = { checked: 3, broken: { chain: 'c', seq: 2, why: 'changed' } }
    const verify = vi.spyOn(methods.store, 'verifyAudit').mockResolvedValue(broken)
    expect(await hookhelm('audit', 'verify')).toBe(1)
    expect(out).toContain('changed')
    verify.mockRestore()
  })

  test('what is refused is said with code, message and hint', async () => {
    expect(await hookhelm('hooks', 'create', '--data', '{"event":"stop"}')).toBe(1)
    expect(err).toBe(
      'gateway.request: handler_type, event, and scope are required\n  The message names the parameter.\n',
    )
    expect(await hookhelm('hooks', 'get', 'nonsense', '--json')).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'gateway.not_found' } })
    expect(await hookhelm('hooks', 'toggle', 'x', '--enabeld')).toBe(1)
    expect(err).toContain('Did you mean --enabled?')
  })

  test('a gateway that is not there is said to be unreachable', async () => {
    expect(await hookhelm('status', '--url', 'http://127.0.0.1:9')).toBe(1)
    expect(err).toMatch(/^gateway\.unreachable: /)
    expect(err).toContain('hookhelm up')
  })
})
