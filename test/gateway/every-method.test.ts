import { runCommand } from 'citty'
import { afterEach, expect, test, vi } from 'vitest'
import { nounCommand, singleCommand } from '../../src/cli/remote/method-command.ts'
import { findMethod, methods } from '../../src/gateway/methods.ts'
import type { Method } from '../../src/methods/method.ts'
import { hookhelm, socketOf } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { type Running, shared } from './running.fixture.ts'
import { openLines } from './socket.fixture.ts'

const gateway = shared(() => ({
  edition: 'standard',
  functions: {
    ask: () => ({ kind: 'ask', reason: 'a person decides' }),
    fail: () => {
      throw new Error('as it should')
    },
  },
}))

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

type Params = Readonly<Record<string, unknown>>
// biome-ignore lint/suspicious/noExplicitAny: whatever the method answers
type Call = (method: string, params?: Params) => Promise<any>

function rowOf(name: string): Method {
  const row = findMethod(name)
  if (row === undefined) throw new Error(`no method ${name}`)
  return row
}

const inPath = ({ rest }: Method) => [...rest.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

const overName =
  (running: Running): Call =>
  async (name, params = {}) => {
    const { status, body } = await running.call('POST', `/v1/call/${name}`, params)
    expect({ name, status, body }).toMatchObject({ status: 200 })
    return body
  }

const overRest =
  (running: Running): Call =>
  async (name, params = {}) => {
    const { rest, kind } = rowOf(name)
    // The route of a subscription is a stream; its pages are read by name.
    if (kind === 'subscription') return overName(running)(name, params)
    const path = rest.path.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(String(params[part])))
    const others = Object.entries(params).filter(([key]) => !inPath(rowOf(name)).includes(key))
    const inQuery = rest.verb === 'GET' || rest.verb === 'DELETE'
    const query = new URLSearchParams(Object.fromEntries(others.map(([key, value]) => [key, String(value)])))
    const { status, body } = await running.call(
      rest.verb,
      inQuery ? `${path}?${query}` : path,
      inQuery ? undefined : Object.fromEntries(others),
    )
    expect({ name, status, body }).toMatchObject({ status: rest.status === 201 ? 201 : 200 })
    return body
  }

const overFrames = async (running: Running): Promise<Call> => {
  const socket = await socketOf(running)
  return async (name, params = {}) => {
    const answer = await socket.call(name, params)
    expect({ name, ...answer }).toMatchObject({ ok: true })
    return answer.payload
  }
}

/** Parameters that the command line takes as data rather than as flags. */
const asData: Readonly<Record<string, string>> = {
  'hooks.update': 'updates',
  'hooks.test': 'config',
  'settings.set': 'settings',
}

const overCommandLine = (running: Running): Call => {
  vi.stubEnv('HOOKHELM_URL', running.url)
  vi.stubEnv('HOOKHELM_TOKEN', running.token)
  return async (name, params = {}) => {
    let out = ''
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text)
      return true
    })
    const [noun = '', verb] = name.split('.')
    const positional = inPath(rowOf(name))
    const data = asData[name]
    const flags = Object.entries(params).flatMap(([key, value]) => {
      if (positional.includes(key)) return []
      if (key === data) return ['--data', JSON.stringify(value)]
      const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')}`
      return [flag, typeof value === 'object' ? JSON.stringify(value) : String(value)]
    })
    const rawArgs = [...positional.map((key) => String(params[key])), ...flags, '--json']
    try {
      if (verb === undefined) await runCommand(singleCommand(name), { rawArgs })
      else await runCommand(nounCommand(noun), { rawArgs: [verb, ...rawArgs] })
    } finally {
      write.mockRestore()
    }
    expect({ name, out, exitCode: process.exitCode ?? 0 }).toMatchObject({ exitCode: 0 })
    return JSON.parse(out)
  }
}

/** Everything that can be asked, once, on things of its own. */
async function everything(running: Running, ask: Call): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  const call: Call = async (name, params) => {
    const answer = await ask(name, params)
    answers.set(name, answer)
    return answer
  }
  const hook = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant', config: { name: 'fail' } }
  const { hookId } = await call('hooks.create', hook)
  await call('hooks.update', { hookId, updates: { name: 'renamed' } })
  await call('hooks.toggle', { hookId, enabled: true })
  await call('hooks.list', { event: 'PreToolUse' })
  await call('hooks.effective', { event: 'PreToolUse', agent: 'codex' })
  await call('hooks.get', { hookId })
  await call('hooks.test', { config: hook, sampleEvent: { toolName: 'exec', toolInput: { cmd: 'ls' } } })
  await call('packs.list')
  await call('packs.show', { name: 'force-push' })
  await call('packs.add', { name: 'force-push', shadow: true })
  await call('packs.remove', { name: 'force-push' })
  const { body } = await running.dispatch('pre_tool_use', exec('ls'), { envelope: { session: 'one' } })
  const eventId = body.event_id
  const history = await running.until(
    () => call('hooks.history', { hookId, decision: 'error', limit: 5 }),
    ({ executions }) => executions.length === 1,
  )
  await call('executions.get', { eventId, executionId: history.executions[0].id })
  await call('executions.tail')
  // Only the latest: runs of an earlier turn have sessions too.
  await call('sessions.list', { limit: 1 })
  await call('sessions.get', { sessionId: 'one' })
  await call('sessions.timeline', { sessionId: 's1', limit: 5 })
  await call('events.list', { kind: 'block', limit: 1 })
  await call('events.tail')
  await call('changes.tail')
  await call('hooks.preview', { hook: { event: 'stop' }, limit: 5 })
  await call('stats.decisions', { since: 0, until: 120_000, step: 60_000 })
  await call('stats.hooks', { since: 4_000_000_000_000 })
  await call('stats.facets', { text: 'said by no event' })
  await call('caller.get')
  await call('events.get', { eventId })
  await call('events.explain', { eventId })
  await call('status')
  await call('budgets.set', { total: 5_000 })
  await call('budgets.get')
  const { tenantId } = await call('tenants.create', { name: 'another' })
  await call('tenants.get', { tenantId: 'another' })
  await call('tenants.list')
  await call('tenants.delete', { tenantId })
  const { member } = await call('members.create', { name: 'reader' })
  await call('members.list')
  const { tokenId } = await call('tokens.create', { name: 'reader', role: 'viewer', days: 3 })
  await call('tokens.list')
  await call('tokens.delete', { tokenId })
  await call('members.delete', { memberId: member.id })
  await call('secrets.set', { name: 'KEY', value: 'a-secret-value' })
  await call('secrets.list')
  await call('secrets.delete', { name: 'KEY' })
  await call('providers.set', { name: 'openai', baseUrl: 'https://models.example', apiKey: 'sk-12345' })
  await call('providers.list')
  await call('providers.delete', { name: 'openai' })
  await call('settings.set', { settings: { retention_days: 7 }, scope: 'gateway' })
  await call('settings.get')
  await call('deliveries.list', { state: 'dead' })
  await call('deliveries.replay', { all: true })
  await call('reports.set', { agent: 'codex', checks: [{ state: 'bad', text: 'PreToolUse: not connected' }] })
  await call('reports.list')
  await call('capabilities.list')
  await call('audit.verify')
  await call('demo.play')
  await call('demo.remove')
  await everythingAboutRuns(call)
  await everythingAboutRules(running, call)
  await call('hooks.delete', { hookId })
  await everythingAboutApprovals(running, call)
  return answers
}

/** One question for each way to answer; a local client waits. */
async function everythingAboutApprovals(running: Running, call: Call): Promise<void> {
  const config = { name: 'ask' }
  const hookId = await running.hook({ event: 'pre_tool_use', handler_type: 'function', config })
  for (const verdict of ['approve', 'deny', 'cancel']) {
    const client = openLines(running.socket ?? '')
    const envelope = { session: 'asks' }
    client.send({ id: 1, event: 'pre_tool_use', payload: exec('ls'), envelope, within_ms: 60_000 })
    expect(await client.next()).toHaveProperty('pending')
    const { approvals } = await call('approvals.list', { status: 'pending' })
    const { approval_id } = approvals[0]
    await call('approvals.show', { approval_id })
    await call('approvals.draft', { approval_id })
    const isApproval = verdict === 'approve'
    await call(`approvals.${verdict}`, { approval_id, ...(isApproval ? { grant_ms: 60_000 } : {}) })
    if (isApproval) await call('approvals.revoke', { approval_id })
    expect(await client.next()).toMatchObject({
      decision: { kind: verdict === 'approve' ? 'allow' : 'block' },
    })
    client.socket.destroy()
  }
  await running.call('DELETE', `/v1/hooks/${hookId}`)
}

/** An agent from its blueprint to the end of its run, with a runner that only speaks the protocol. */
async function everythingAboutRuns(call: Call): Promise<void> {
  const hook = { type: 'agent', agent_name: 'checker', on_error: 'continue' }
  await call('runHooks.create', { name: 'check', definition: hook })
  await call('runHooks.update', { name: 'check', definition: { timeout_seconds: 9 } })
  await call('runHooks.show', { name: 'check' })
  await call('runHooks.list')
  await call('runHooks.delete', { name: 'check' })
  const blueprint = { name: 'writer', type: 'procedural', executor: { profile: 'words' } }
  await call('blueprints.create', blueprint)
  await call('blueprints.update', { name: 'writer', description: 'writes' })
  await call('blueprints.show', { name: 'writer' })
  await call('blueprints.list')
  const offer = { hostname: 'here', project_dir: '', executor_profile: 'words' }
  const { runner_id } = await call('runners.register', offer)
  await call('runners.heartbeat', { runner_id })
  await call('runners.list')
  const { run_id, session_id } = await call('runs.start', {
    agent_name: 'writer',
    parameters: { topic: 'sea' },
  })
  expect((await call('runners.poll', { runner_id })).run.run_id).toBe(run_id)
  await call('runners.started', { run_id, runner_id })
  const events = [{ event_type: 'result', data: { result_data: { words: 3 } } }]
  await call('runners.events', { run_id, runner_id, events })
  await call('runners.spend', { run_id, runner_id, tokens: 7 })
  await call('runners.completed', { run_id, runner_id })
  await gateway().until(
    () => gateway().call('GET', `/sessions/${session_id}/events`),
    ({ body }) => body.events.length === 6,
  )
  await call('runs.show', { run_id })
  await call('runs.list', { session_id })
  await call('runSessions.list', { limit: 1 })
  await call('runSessions.show', { session_id })
  await call('runSessions.events', { session_id })
  await call('runSessions.result', { session_id })
  await call('runSessions.tail')
  const resumed = await call('runs.resume', { session_id, parameters: { more: true } })
  expect((await call('runners.poll', { runner_id })).run.run_id).toBe(resumed.run_id)
  await call('runners.failed', { run_id: resumed.run_id, runner_id, error: 'no ink' })
  const third = await call('runs.resume', { session_id })
  expect((await call('runners.poll', { runner_id })).run.run_id).toBe(third.run_id)
  await call('runs.stop', { run_id: third.run_id })
  await call('runners.stopped', { run_id: third.run_id, runner_id })
  await gateway().until(
    () => gateway().call('DELETE', `/sessions/${session_id}`),
    ({ status }) => status === 200,
  )
  const last = await call('runs.start', { agent_name: 'writer' })
  await call('runs.stop', { run_id: last.run_id })
  const isFinished = async () => (await call('runs.show', { run_id: last.run_id })).run.status
  await gateway().until(isFinished, (status) => status === 'stopped')
  await retried(() => call('runSessions.delete', { session_id: last.session_id }))
  await call('runners.delete', { runner_id })
  await call('blueprints.delete', { name: 'writer' })
}

/** A rule from its creation to the message that it sends. */
async function everythingAboutRules(running: Running, call: Call): Promise<void> {
  const members = [{ name: 'ada' }]
  await call('teams.create', { name: 'ops', members })
  await call('teams.update', { name: 'ops', description: 'on call' })
  await call('teams.show', { name: 'ops' })
  await call('teams.list')
  const trigger = { event: 'StopFailure' }
  await call('rules.create', { id: 'tell', trigger, actions: [{ type: 'notify_team', teamName: 'ops' }] })
  await call('rules.update', { id: 'tell', cooldownMs: 0 })
  await call('rules.toggle', { id: 'tell', enabled: true })
  await call('rules.list')
  await call('rules.simulate', { event: 'StopFailure', payload: { error: 'overloaded' } })
  const settings = { rules_enabled: true }
  await running.call('PATCH', '/v1/settings', { settings, scope: 'gateway' })
  const { body } = await running.dispatch('stop_failure', { error: `overloaded ${Math.random()}` })
  const { messages } = await running.until(
    () => call('mailbox.list', { team: 'ops' }),
    (answer) => answer.messages.length === 1,
  )
  const [{ message_id }] = messages
  await call('mailbox.show', { message_id })
  await call('mailbox.read', { message_id })
  await call('mailbox.delete', { message_id })
  const { firings } = await running.until(
    () => call('rules.history', { event_id: body.event_id }),
    ({ firings: [firing] }) => firing.actions[0].status === 'executed',
  )
  await call('rules.firing', { firing_id: firings[0].firing_id })
  const definition = { type: 'http', config: { url: 'https://pool.example' } }
  await call('environments.create', { name: 'pool', definition })
  await call('environments.update', { name: 'pool', definition: { enabled: false } })
  await call('environments.list')
  await call('environments.delete', { name: 'pool' })
  await call('rules.delete', { id: 'tell' })
  await call('teams.delete', { name: 'ops' })
  await running.call('PATCH', '/v1/settings', { settings: { rules_enabled: null }, scope: 'gateway' })
}

/** A session is deleted only after its finish hooks were queued. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 60_000, interval: 100 })
}

const changing = new Set(['token', 'cursor', 'nextCursor'])

/** What does not depend on when and in which turn it was asked. */
function shape(value: unknown, key = ''): unknown {
  if (changing.has(key)) return '…'
  if (typeof value === 'number') return 0
  if (typeof value === 'string')
    return value
      .replace(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|[\da-f]{32,64}/g, '…')
      .replace(/\b(run|ses|lnch|apr)_[\da-f]{12,16}/g, '$1_…')
      .replace(/\d+/g, '0')
  // Tenants are listed by their ids, which are made anew.
  if (Array.isArray(value))
    return value
      .map((item) => shape(item))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shape(item, name)]))
}

test('GC-108 every method answers the same over REST, frames and the command line', async () => {
  const rest = await everything(gateway(), overRest(gateway()))
  const frames = await everything(gateway(), await overFrames(gateway()))
  const commandLine = await everything(gateway(), overCommandLine(gateway()))
  expect([...rest.keys()].toSorted()).toEqual(methods.map(({ name }) => name).toSorted())
  for (const [name, answer] of rest) {
    expect([name, shape(commandLine.get(name))]).toEqual([name, shape(answer)])
    // Over frames a subscription goes on, and the reply names it.
    if (rowOf(name).kind === 'subscription') expect(frames.get(name)).toHaveProperty('subscription')
    else expect([name, shape(frames.get(name))]).toEqual([name, shape(answer)])
  }
}, 120_000)

test('the command line as a person starts it: create, list, history, and an error with its hint', async () => {
  const at = (...args: string[]) => hookhelm(gateway(), args)
  const made = await at(
    ...['hooks', 'create', '--event', 'pre_tool_use', '--handler-type', 'function', '--scope', 'tenant'],
    ...['--config', '{"name":"fail"}', '--json'],
  )
  const { hookId } = JSON.parse(made.stdout)
  await gateway().dispatch('pre_tool_use', exec('ls'))
  const [history, refused] = await Promise.all([
    gateway().until(
      () => at('hooks', 'history', '--hook-id', hookId),
      ({ stdout }) => stdout.includes('error'),
    ),
    at('hooks', 'create', '--event', 'pre_tool_use'),
  ])
  expect(history).toMatchObject({ code: 0, stderr: '' })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('handler_type, event, and scope are required')
  expect((await at('hooks', 'delete', hookId)).code).toBe(0)
}, 120_000)

test('executions tail --follow prints executions as they are recorded, until it is interrupted', async () => {
  const hookId = await gateway().hook({
    event: 'subagent_stop',
    handler_type: 'function',
    config: { name: 'fail' },
  })
  const { nextCursor } = await overName(gateway())('executions.tail')
  await gateway().dispatch('subagent_stop', {})
  const args = ['executions', 'tail', '--follow', '--json', '--cursor', nextCursor]
  const lines: string[] = []
  const { code } = await hookhelm(gateway(), args, {
    onOutput(text, child) {
      lines.push(text)
      child.kill('SIGINT')
    },
  })
  expect(JSON.parse(lines.join(''))).toMatchObject({ hook_id: hookId, event: 'subagent_stop' })
  expect(code).toBe(0)
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
}, 120_000)
