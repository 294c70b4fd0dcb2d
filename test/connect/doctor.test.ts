import { chmodSync, copyFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { chooseClient } from '../../src/agents/client/find-client.ts'
import { connect } from '../../src/connect/connection.ts'
import { runDoctor } from '../../src/connect/doctor/run-doctor.ts'
import { pingSocket } from '../../src/connect/ping-socket.ts'
import { running } from '../gateway/running.fixture.ts'
import { clinic, spoil } from './clinic.fixture.ts'
import { connectionOf } from './connections.fixture.ts'
import { type TemporaryHome, temporaryHome } from './home.fixture.ts'
import { scriptedGateway } from './scripted-gateway.fixture.ts'

// Each command of each connection is a process of its own.
vi.setConfig({ testTimeout: 120_000 })

const silence = { exit: 0, stdout: '', stderr: '' }
/** A plugin is answered with an object of its own shape, a command with how its process ends. */
const allow = (agent: string) => (agent === 'opencode' || agent === 'openclaw' ? {} : silence)

/** A home with a scripted gateway and a client of its own in a folder that can be spoilt. */
async function stage(reply: (agent: string) => object | undefined = allow) {
  const home = temporaryHome()
  const gateway = await scriptedGateway(home.path('run', 'gateway.sock'), reply as never)
  const { path: original } = chooseClient('node')
  const client = home.write('bin/hookhelm-hook.cjs', '')
  copyFileSync(original, client)
  for (const module of ['gateway-link.cjs', 'caller-watch.cjs'])
    copyFileSync(join(dirname(original), module), home.path('bin', module))
  chmodSync(client, 0o644)
  const command = [process.execPath, client]
  return {
    home,
    client,
    gateway,
    connect: (agent: string, more: object = {}) =>
      connect(connectionOf(agent, home, { command, socket: gateway.socket, ...more })),
    look: () => look(home, { command }, gateway.knows),
  }
}

async function look(
  home: TemporaryHome,
  client: { readonly command: readonly string[] },
  hasSession: (session: string) => boolean | undefined,
) {
  const checks = await runDoctor({
    paths: home.paths,
    dataFolder: home.dataFolder,
    gateway: { isListening: pingSocket, hasSession: (session) => Promise.resolve(hasSession(session)) },
    client,
  })
  const inWords = ({ text }: { readonly text: string }) => text.replaceAll(home.folder, '~')
  return {
    good: checks.filter(({ state }) => state === 'ok').map(inWords),
    wrong: checks.filter(({ state }) => state !== 'ok').map((check) => `${check.state}: ${inWords(check)}`),
  }
}

describe('a connection that works', () => {
  test.each([
    ['claude-code', 'PreToolUse, PermissionRequest, UserPromptSubmit'],
    ['gemini-cli', 'BeforeTool, BeforeAgent'],
    ['copilot-cli', 'preToolUse, permissionRequest, userPromptSubmitted'],
    ['cursor', 'preToolUse, beforeMCPExecution, beforeSubmitPrompt, subagentStart'],
  ])('%s: passes the hooks, and is closed without a gateway', async (agent, gates) => {
    const { home, connect: put, look: see, gateway } = await stage()
    put(agent)
    const { good, wrong } = await see()
    expect(wrong).toEqual([])
    expect(good).toEqual(
      expect.arrayContaining([
        `${gates} pass the hooks`,
        `${gates} are blocked when no gateway listens`,
        `${gates.split(',')[0]} is blocked when the gateway does not answer in time`,
        'observed events are spooled meanwhile, and delivered later',
      ]),
    )
    // Only what should reach it did, and nothing was left for the real gateway to take up.
    expect(gateway.asked.map(({ event }) => event)).toEqual(gates.split(', '))
    expect(home.exists('data/spool')).toBe(false)
  })

  test.each(['opencode', 'openclaw'])('%s: its plugin does the same', async (agent) => {
    const { connect: put, look: see } = await stage()
    put(agent)
    expect(await see()).toEqual({
      good: [
        'a tool call passes the hooks',
        'a tool call is blocked when no gateway listens',
        'a tool call is blocked when the gateway does not answer in time',
      ],
      wrong: [],
    })
  })
})

describe('what is wrong', () => {
  const settings = '.claude/settings.json'

  test('a gateway that breaks off is no answer', async () => {
    const { connect: put, home, gateway } = await stage(() => undefined)
    put('claude-code')
    const { wrong } = await look(home, { command: [] }, () => false)
    expect(wrong.filter((text) => text.includes("is missing in the gateway's history"))).toHaveLength(3)
    expect(gateway.asked).toHaveLength(3)
  })

  test('nobody listens where the entries say', async () => {
    const { connect: put, look: see } = await stage()
    put('claude-code', { socket: '/nowhere/gateway.sock' })
    const { wrong, good } = await see()
    expect(wrong).toEqual(['bad: no gateway listens on /nowhere/gateway.sock'])
    expect(good).toContain(
      'PreToolUse, PermissionRequest, UserPromptSubmit are blocked when no gateway listens',
    )
  })

  test('the client is gone, or anybody may write to it', async () => {
    const { connect: put, look: see, client } = await stage()
    put('codex')
    chmodSync(client, 0o666)
    expect((await see()).wrong).toContain('bad: every user may write to ~/bin/hookhelm-hook.cjs')
    rmSync(client)
    const { wrong } = await see()
    expect(wrong).toContain('bad: ~/bin/hookhelm-hook.cjs does not exist, so every gate blocks')
  })

  test('the interpreter is gone', async () => {
    const { connect: put, look: see, client } = await stage()
    put('gemini-cli', { command: ['/nowhere/node', client] })
    expect((await see()).wrong).toContain('bad: /nowhere/node does not exist, so every gate blocks')
  })

  test('4.12 #167 a limit above that of the agent, a gate that fails open, one that is missing and one that is narrow', async () => {
    const { home, connect: put, look: see } = await stage()
    put('claude-code')
    spoil(home, settings, (text) => {
      const value = JSON.parse(text)
      const [tool] = value.hooks.PreToolUse
      tool.matcher = 'Bash'
      tool.hooks[0].timeout = 10
      delete tool.hooks[0].onFailure
      delete value.hooks.UserPromptSubmit
      value.hooks.PermissionRequest.push(value.hooks.PermissionRequest[0])
      return JSON.stringify(value)
    })
    expect((await see()).wrong).toEqual([
      'bad: PreToolUse: the client does not give up before the agent does, and the agent then lets the call pass',
      'bad: PreToolUse: onFailure is missing, so a crash lets the call pass',
      'bad: UserPromptSubmit: not connected, so nothing can block it',
      'bad: PreToolUse: only calls that match "Bash" pass the hooks',
      'bad: PermissionRequest: listed twice, so hooks run twice',
    ])
  })

  test('a line that lets a call pass when the client cannot run', async () => {
    const { home, connect: put, look: see } = await stage()
    put('gemini-cli')
    spoil(home, '.gemini/settings.json', (text) =>
      text.replace(/ \|\| \{ \[ \$\? = 2 \] \|\| echo .*? exit 2; \}/, ''),
    )
    expect((await see()).wrong).toEqual([
      expect.stringMatching(
        /^bad: BeforeTool lets calls pass when the client is gone \(exit 127: .*not found/,
      ),
    ])
  })

  test('a client that answers for the gateway', async () => {
    const { home, connect: put, look: see } = await stage()
    put('claude-code')
    home.write('bin/hookhelm-hook.cjs', 'process.exit(0)')
    const { wrong } = await see()
    expect(wrong).toEqual(
      expect.arrayContaining([
        "bad: PreToolUse is missing in the gateway's history",
        'bad: PreToolUse lets calls pass when no gateway listens (exit 0)',
        expect.stringMatching(/^bad: 0 of \d+ observed events were spooled$/),
      ]),
    )
  })

  test('--fail-open is said, and is a choice', async () => {
    const { connect: put, look: see } = await stage()
    put('codex', { failOpen: true })
    put('opencode', { failOpen: true })
    const { wrong } = await see()
    expect(wrong).toContain(
      'warn: PreToolUse lets calls pass when no gateway listens: it is connected with --fail-open',
    )
    expect(wrong).toContain(
      'warn: a tool call passes when no gateway listens: the agent is connected with --fail-open',
    )
  })

  test('two levels, another client, a file that cannot be read', async () => {
    const { home, connect: put, gateway } = await stage()
    put('cursor')
    put('cursor', { level: 'project' })
    home.write('.codex/hooks.json', '{ "hooks": ')
    const { wrong } = await look(home, { command: ['/new/hookhelm-hook'] }, gateway.knows)
    expect(wrong).toEqual([
      expect.stringMatching(/^bad: ~\/\.codex\/hooks\.json:1:\d+ is not JSON/),
      'warn: a newer client exists: /new/hookhelm-hook',
      'warn: also connected at the level project (~/project/.cursor/hooks.json), so every hook runs twice',
      'warn: a newer client exists: /new/hookhelm-hook',
      'warn: also connected at the level user (~/.cursor/hooks.json), so every hook runs twice',
    ])
  })

  test('Copilot CLI beside the project settings of Claude Code is right: a call is one event', async () => {
    const { connect: put, look: see } = await stage()
    put('copilot-cli')
    put('claude-code', { level: 'project' })
    const { good, wrong } = await see()
    expect(wrong).toEqual([])
    expect(good).toContain(
      'also runs the hooks of ~/project/.claude/settings.json; a call that both report is one event',
    )
  })

  test('a plugin that is gone or does not load', async () => {
    const { home, connect: put, look: see } = await stage()
    put('openclaw')
    const plugin = 'data/plugins/hookhelm-openclaw/index.js'
    spoil(home, plugin, (text) => `throw new Error('spoilt')\n${text}`)
    expect((await see()).wrong).toEqual([
      `bad: ~/${plugin} cannot be loaded, so every call passes: Error: spoilt`,
    ])
    rmSync(home.path(plugin))
    expect((await see()).wrong).toEqual([`bad: ~/${plugin} does not exist, or Hookhelm did not write it`])
  })
})

test('the gateway keeps the last result of each agent, and `agents` shows it', async () => {
  const { gateway, home, env, examine, connectAgents } = await clinic()
  await connectAgents('gemini-cli')
  await examine()
  const reports = async () => (await gateway.call('GET', '/v1/reports')).body.reports
  expect(await reports()).toMatchObject([{ agent: 'gemini-cli', title: 'Gemini CLI', ok: true }])
  rmSync(home.path('.gemini/settings.json'))
  await examine()
  expect(await reports()).toMatchObject([
    {
      agent: 'gemini-cli',
      ok: false,
      checks: [
        { state: 'bad', text: expect.stringMatching(/is gone/), hint: expect.any(String), level: 'user' },
      ],
    },
  ])
  expect((await home.hookhelm(['agents'], env)).stdout).toMatch(/^gemini-cli .* FAILED \d{4}-/m)
})

test('a real gateway has the test in its history, with what its hooks decided', async () => {
  const gateway = await running()
  await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'script',
    config: { source: "function handle() { return { decision: 'block', reason: 'never' } }" },
  })
  const home = temporaryHome()
  const env = { HOOKHELM_HOME: gateway.home, HOOKHELM_URL: gateway.url, HOOKHELM_TOKEN: gateway.token }
  const agents = ['claude-code', 'gemini-cli', 'copilot-cli', 'cursor', 'opencode', 'openclaw']
  const connected = await home.hookhelm(['connect', ...agents, '--client', 'node'], env)
  expect(connected).toMatchObject({ code: 0, stderr: expect.not.stringContaining('no gateway listens') })
  const { code, stdout, stderr } = await home.hookhelm(['doctor', '--json'], env)
  const { ok, checks } = JSON.parse(stdout)
  const wrong = checks.filter(
    ({ state, text }: { state: string; text: string }) => state !== 'ok' && !/newer client/.test(text),
  )
  expect({ code, ok, stderr, wrong }).toEqual({ code: 0, ok: true, stderr: '', wrong: [] })
  const { body } = await gateway.call('GET', '/v1/sessions?probes=true')
  expect(body.sessions.length).toBeGreaterThanOrEqual(agents.length)
  const listed = JSON.parse((await home.hookhelm(['agents', '--json'], env)).stdout)
  expect(listed.gateway).toBe(true)
  for (const { agent, lastEventAt } of listed.agents)
    expect([agent, lastEventAt], 'a probe is not work of the agent').toEqual([agent, undefined])
})
