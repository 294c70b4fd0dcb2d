import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { type Client, clients, run } from '../agents-client/clients.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import { type GatewayProcess, gatewayHome, scratchFolder } from '../runs/crash.fixture.ts'

const plugin = new URL('../../src/agents/plugin/gateway-connection.js', import.meta.url)
const { openGatewayConnection } = await import(plugin.href)

const HANG = 180_000
const WAIT_MS = 150_000
const COMMAND = 'git push --force'

/** Waits for a person, and resolves with what the agent would do. */
type Caller = (session: string, command?: string) => Promise<'runs' | 'does not run'>

async function careful(gateway: GatewayProcess): Promise<void> {
  const source = `function handle() { return { decision: 'ask', reason: 'a push needs a person' } }`
  const hook = { event: 'pre_tool_use', handler_type: 'script', scope: 'tenant', config: { source } }
  expect((await gateway.call('POST', '/v1/hooks', hook)).status).toBe(200)
}

/** Every client that waits: the two programs of command hooks, the plugins, and the typed client at both doors. */
function callersOf({ url, token, socket = '' }: GatewayProcess): Readonly<Record<string, Caller>> {
  const typed = (options: object): Caller => {
    const client = createClient({ ...options, timeoutMs: 20_000 })
    onTestFinished(() => client.close())
    return async (session, command = COMMAND) => {
      const payload = { tool_name: 'Bash', tool_input: { command } }
      const event = { event: 'pre_tool_use', payload, envelope: { session } } as const
      const { kind } = await client.decide(event, { waitMs: WAIT_MS })
      return kind === 'allow' ? 'runs' : 'does not run'
    }
  }
  const programs = clients.map((client): [string, Caller] => {
    const args = [
      'claude-code',
      'PreToolUse',
      '--socket',
      socket,
      '--within',
      '20000',
      '--wait',
      `${WAIT_MS}`,
    ]
    const native = (session_id: string, command = COMMAND) =>
      JSON.stringify({ session_id, cwd: '/', tool_name: 'Bash', tool_input: { command } })
    return [
      client.name,
      async (session, command) => {
        const { stdout } = await run(client, args, native(session, command))
        return stdout.includes('"permissionDecision":"allow"') ? 'runs' : 'does not run'
      },
    ]
  })
  const settings = { agent: 'opencode', socket, spool: scratchFolder(), within: 20_000, wait: WAIT_MS }
  const link = openGatewayConnection(settings)
  onTestFinished(() => link.close())
  const linked: Caller = async (sessionID, command = COMMAND) => {
    const native = {
      input: { tool: 'bash', sessionID, callID: 'c1' },
      output: { args: { command } },
      directory: '/',
    }
    const reply = await link.gate('tool.execute.before', native, (given: { block?: string }) => given)
    return reply.block === undefined ? 'runs' : 'does not run'
  }
  return {
    ...Object.fromEntries(programs),
    plugin: linked,
    socket: typed({ socket }),
    http: typed({ url, token }),
  }
}

async function approvalsOf(gateway: GatewayProcess, isRight: (approvals: Approval[]) => boolean) {
  return gateway.until(async (): Promise<Approval[]> => {
    const { body } = await gateway.call('GET', '/v1/approvals?limit=100')
    return body.approvals
  }, isRight)
}

/** The open questions, once their callers know of them. */
async function waitingOn(gateway: GatewayProcess, count: number): Promise<Approval[]> {
  const approvals = await approvalsOf(gateway, ({ length }) => length === count)
  // The caller learns of a question right after this step is recorded.
  for (const { session_id } of approvals)
    await gateway.until(
      () => timelineOf(gateway, session_id),
      (events) => events.some(({ event }) => event === 'agent_event'),
    )
  return approvals
}

async function timelineOf(gateway: GatewayProcess, session: string): Promise<{ readonly event: string }[]> {
  const { body } = await gateway.call('GET', `/v1/sessions/${encodeURIComponent(session)}/timeline?limit=100`)
  return body.events ?? []
}

interface Approval {
  readonly approval_id: string
  readonly session_id: string
  readonly status: string
}

async function personOf(gateway: GatewayProcess, name: string) {
  const { body } = await gateway.call('POST', '/v1/tokens', { name, role: 'approver' })
  const headers = { authorization: `Bearer ${body.token}` }
  return (verdict: 'approve' | 'deny', { approval_id }: Approval) =>
    gateway.call('POST', `/v1/approvals/${approval_id}/${verdict}`, {}, headers)
}

async function recordedCalls(gateway: GatewayProcess, session: string): Promise<number> {
  const events = await timelineOf(gateway, session)
  return events.filter(({ event }) => event === 'pre_tool_use').length
}

test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
  'calls that wait when the gateway ends by %s get the answer of a person from the next one, and ask once',
  async (signal) => {
    const home = gatewayHome()
    const first = await home.open({ hasSocket: true })
    await careful(first)
    const callers = Object.entries(callersOf(first))
    const calls = callers.map(([name, call]) => call(name))
    const asked = await waitingOn(first, callers.length)
    await first.end(signal)
    const second = await home.open({ hasSocket: true })
    const answer = await personOf(second, 'ada')
    const byName = new Map(asked.map((approval) => [approval.session_id, approval]))
    for (const [name] of callers)
      expect((await answer('approve', byName.get(name) as Approval)).status).toBe(200)
    expect(await Promise.all(calls)).toEqual(callers.map(() => 'runs'))
    const after = await approvalsOf(second, () => true)
    expect(after.map(({ approval_id }) => approval_id).toSorted()).toEqual(
      asked.map(({ approval_id }) => approval_id).toSorted(),
    )
    for (const [name] of callers) expect([name, await recordedCalls(second, name)]).toEqual([name, 1])
  },
  HANG,
)

test(
  'a gateway that is killed between the decision and the answer gives the answer after its restart',
  async () => {
    const home = gatewayHome()
    const first = await home.open({
      hasSocket: true,
      dies: { when: 'after', method: 'useApproval', with: 'apr_' },
    })
    await careful(first)
    const [[name, caller] = []] = Object.entries(callersOf(first))
    const call = caller?.('s1')
    const [approval] = await waitingOn(first, 1)
    const answer = await personOf(first, 'ada')
    await answer('approve', approval as Approval).catch(() => undefined)
    await first.ended
    const second = await home.open({ hasSocket: true })
    expect([name, await call]).toEqual([name, 'runs'])
    expect(await approvalsOf(second, () => true)).toHaveLength(1)
    expect(await recordedCalls(second, 's1')).toBe(1)
  },
  HANG,
)

test(
  'a call that waits on a node that is away gets the answer that another node took meanwhile',
  async () => {
    const database = await freshDatabase()
    onTestFinished(() => database.drop())
    const [home, elsewhere] = [gatewayHome(database), gatewayHome(database)]
    const [first, other] = [await home.open({ hasSocket: true }), await elsewhere.open()]
    await careful(first)
    const callers = Object.values(callersOf(first)).slice(0, 2)
    const calls = callers.map((call, index) => call(`s${index}`))
    const asked = await waitingOn(first, 2)
    const answer = await personOf(other, 'ada')
    await first.kill()
    for (const approval of asked) expect((await answer('approve', approval)).status).toBe(200)
    await home.open({ hasSocket: true })
    expect(await Promise.all(calls)).toEqual(['runs', 'runs'])
    expect(await approvalsOf(other, () => true)).toHaveLength(2)
  },
  HANG,
)

test(
  'a call whose gateway does not come back is blocked and names its approval; what is no gateway blocks at once',
  async () => {
    const home = gatewayHome()
    const gateway = await home.open({ hasSocket: true })
    await careful(gateway)
    const { socket = '' } = gateway
    const held = (client: Client, session_id: string, wait: number) => {
      const limits = ['--within', '5000', '--wait', `${wait}`, '--fail-open']
      const args = ['claude-code', 'PreToolUse', '--socket', socket, ...limits]
      const native = { session_id, cwd: '/', tool_name: 'Bash', tool_input: { command: COMMAND } }
      return run(client, args, JSON.stringify(native))
    }
    const short = clients.map((client) => held(client, `short ${client.name}`, 8_000))
    const long = clients.map((client) => held(client, `long ${client.name}`, WAIT_MS))
    const asked = await waitingOn(gateway, 2 * clients.length)
    await gateway.kill()
    for (const [index, { name }] of clients.entries()) {
      const { approval_id } = asked.find(({ session_id }) => session_id === `short ${name}`) ?? {}
      const stderr = `hookhelm: no person answered within 8000 ms; the call waits for approval ${approval_id}\n`
      expect(await short[index]).toMatchObject({ code: 2, stderr })
    }
    const server = createServer((connection) => {
      connection.on('error', () => {})
      connection.end('{"id":1,"reply":{"exit":0}}\n')
    })
    // The socket of the killed gateway is still there.
    rmSync(socket)
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    onTestFinished(() => void server.close())
    for (const call of long)
      expect(await call).toMatchObject({ code: 2, stderr: "hookhelm: the gateway's answer cannot be read\n" })
  },
  HANG,
)
