import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { temporaryHome } from '../../test/connect/home.fixture.ts'
import type { CommandHost } from '../agents/agent-host.ts'
import { agentProfiles, findAdapter } from '../agents/table.ts'
import {
  clientBudget,
  type HookCommand,
  hookEntry,
  parseHookCommand,
  planHookCommands,
  quoteWord,
  splitShellLine,
  withFlagValue,
} from './hook-command.ts'

const NODE_CLIENT = join(import.meta.dirname, '../agents/client/hookhelm-hook.cjs')

/** Whatever a person may have in $SHELL, as far as it is here. */
const shells = ['/bin/sh', '/bin/bash', '/bin/dash', '/bin/zsh', '/usr/bin/zsh', '/usr/bin/fish'].filter(
  existsSync,
)

const commandHosts = agentProfiles
  .map(({ host }) => host)
  .filter((host): host is CommandHost => host.transport === 'command')

const calls = (host: CommandHost, more: object = {}): HookCommand[] =>
  planHookCommands(findAdapter(host.agent)!, host, {
    client: { command: ['/opt/hookhelm-hook'] },
    socket: '/run/s.sock',
    spool: '/spool',
    failOpen: false,
    timeoutMs: 60_000,
    waitMs: 0,
    allEvents: false,
    ...more,
  })

describe('words', () => {
  test('a shell reads back every word that was quoted, and so do we', () => {
    const word = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\0'))
    const ascii = fc.string({ minLength: 1 })
    fc.assert(
      fc.property(fc.array(fc.oneof(word, ascii), { minLength: 1, maxLength: 4 }), (words) => {
        expect(splitShellLine(`${words.map(quoteWord).join(' ')} || { exit 2; }`)).toEqual(words)
      }),
    )
    const tricky = [`a'b`, 'c d', '$HOME', '`id`', 'x;y', '\\', '"', '*', "'", '|| exit 0', 'ü\n']
    const { stdout } = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${tricky.map(quoteWord).join(' ')}`])
    expect(stdout.toString().split('\0').slice(0, -1)).toEqual(tricky)
  })
})

describe.each(commandHosts.map((host) => [host.agent, host] as const))('%s in a shell', (_, host) => {
  /** A client in a place that is hard to spell, which does what `script` says. */
  function client(script: string): string {
    const home = temporaryHome(`hookhelm it's "a" $HOME-`)
    mkdirSync(home.path('bin'))
    const path = home.path('bin', 'hookhelm-hook')
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const line = (call: HookCommand) => {
    const { value } = hookEntry(host, call)
    return String(value[host.commandKey])
  }
  const run = (call: HookCommand, shell = '/bin/sh') => {
    const { status, stdout, stderr } = spawnSync(shell, ['-c', line(call)], { input: '{}' })
    return { status, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  const withClient = (path: string, more: object = {}) =>
    calls(host, { client: { command: [path] }, ...more })
  const gates = (all: readonly HookCommand[]) => all.filter(({ isGate }) => isGate)
  const isRefused = ({ refusal }: HookCommand, ran: ReturnType<typeof run>) =>
    refusal === undefined
      ? ran.status === 2 && ran.stdout === '' && ran.stderr !== ''
      : ran.status === 0 &&
        /"behavior":"deny"|"decision":"block"|"permissionDecision":"deny"/.test(ran.stdout)

  test('4.12 #161 a gate whose client crashes, is killed or is gone is closed', () => {
    for (const script of ['exit 1', 'exit 3', 'kill -9 $$', 'exit 127'])
      for (const call of gates(withClient(client(script))))
        expect([call.event, isRefused(call, run(call))]).toEqual([call.event, true])
    for (const call of gates(withClient('/nowhere/hookhelm-hook')))
      expect(isRefused(call, run(call))).toBe(true)
  })

  test('what the client answers comes through untouched', () => {
    for (const call of withClient(client('cat >/dev/null; printf "{\\"a\\":1}"; echo "$#" >&2')))
      expect(run(call)).toEqual({
        status: 0,
        stdout: '{"a":1}',
        stderr: `${call.argv.length - 1}\n`,
      })
    const blocked = client('echo no >&2; exit 2')
    for (const call of withClient(blocked).filter(({ refusal }) => refusal === undefined))
      expect(run(call)).toEqual({ status: 2, stdout: '', stderr: 'no\n' })
  })

  test('a module that NODE_OPTIONS loads prints nothing before the reply of the Node client', () => {
    const home = temporaryHome()
    const noisy = home.write('noisy.cjs', 'console.log("injecting env (0) from .env")')
    const call = gates(calls(host, { client: { command: [process.execPath, NODE_CLIENT] } }))[0]!
    const env = { ...process.env, NODE_OPTIONS: `--require ${noisy}`, NODE_DEBUG: 'net' }
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', line(call)], { input: '{}', env })
    expect(`${stdout}${stderr}`).not.toMatch(/injecting|NET/)
    expect(isRefused(call, { status, stdout: stdout.toString(), stderr: stderr.toString() })).toBe(true)
  })

  test('exit code 2 remains when the refusal cannot be printed', () => {
    for (const call of gates(withClient('/nowhere/hookhelm-hook'))) {
      const { status } = spawnSync('/bin/sh', ['-c', `${line(call)} >&-`], { input: '{}' })
      expect([call.event, status]).toEqual([call.event, 2])
    }
  })

  test('what is observed goes on whatever happens to the client', () => {
    for (const path of [client('exit 1'), client('kill -9 $$'), '/nowhere/hookhelm-hook'])
      for (const call of withClient(path).filter(({ isGate }) => !isGate))
        expect(run(call)).toMatchObject({ status: 0, stdout: '' })
  })

  test.each(shells)('%s reads the line as any other shell', (shell) => {
    for (const call of gates(withClient('/nowhere/hookhelm-hook')))
      expect(isRefused(call, run(call, shell))).toBe(true)
    for (const call of withClient(client('cat >/dev/null; printf "$#"')))
      expect(run(call, shell)).toEqual({ status: 0, stdout: String(call.argv.length - 1), stderr: '' })
  })

  test('with --fail-open a gate goes on too, but a block is still one', () => {
    for (const call of gates(withClient('/nowhere/hookhelm-hook', { failOpen: true })))
      expect(run(call)).toMatchObject({ status: 0, stdout: '' })
    for (const call of gates(withClient(client('echo no >&2; exit 2'), { failOpen: true })))
      expect(run(call)).toEqual({ status: 2, stdout: '', stderr: 'no\n' })
  })

  test('an entry is read back as it was meant, and a flag of it can be replaced', () => {
    for (const call of withClient(client('exit 0'))) {
      const written = parseHookCommand(host, hookEntry(host, call))
      expect(written).toMatchObject({
        argv: call.argv,
        isGate: call.isGate,
        timeoutMs: call.timeoutMs,
        failOpen: false,
      })
      const moved = withFlagValue(written!, '--socket', "/tmp/it's")
      expect(splitShellLine(moved.line!).slice(4)).toEqual(moved.argv)
      expect(moved.argv).toContain("/tmp/it's")
    }
  })
})

describe('time', () => {
  test.each(commandHosts.map((host) => [host.agent, host] as const))(
    '%s: 4.12 #167 our limit lies below that of the host',
    (_, host) => {
      for (const timeoutMs of [2_000, 10_000, 60_000, 600_000])
        for (const call of calls(host, { timeoutMs, allEvents: true })) {
          const within = Number(call.argv[call.argv.indexOf('--within') + 1])
          expect(within).toBeLessThanOrEqual(call.timeoutMs - 1_000)
          const { value } = hookEntry(host, call)
          expect(value[host.timeout.key]).toBe(call.timeoutMs / host.timeout.unitMs)
        }
    },
  )

  test('a minute for gates, ten seconds to observe, and never more than the host waits', () => {
    const codex = commandHosts.find(({ agent }) => agent === 'codex')!
    const at = (event: string) => calls(codex).find((call) => call.event === event)!
    expect(at('PreToolUse')).toMatchObject({ timeoutMs: 60_000, argv: expect.arrayContaining(['55000']) })
    expect(at('PostToolUse')).toMatchObject({
      timeoutMs: 10_000,
      argv: expect.arrayContaining(['5000', '--observe']),
    })
    const waiting = calls(codex, { waitMs: 600_000 }).find(({ event }) => event === 'PreToolUse')
    expect(waiting).toMatchObject({
      timeoutMs: 600_000,
      argv: expect.arrayContaining(['--within', '55000', '--wait', '595000']),
    })
    expect(at('SessionEnd')).toMatchObject({ timeoutMs: 3_000, argv: expect.arrayContaining(['2000']) })
    expect([600_000, 60_000, 20_000, 2_000].map(clientBudget)).toEqual([595_000, 55_000, 18_000, 1_000])
  })
})

describe('which events', () => {
  const eventsOf = (agent: string, more: object = {}) =>
    calls(commandHosts.find((host) => host.agent === agent)!, more).map(({ event }) => event)

  test('those with a name of ours, unless they come too often', () => {
    expect(eventsOf('gemini-cli')).not.toContain('BeforeModel')
    expect(eventsOf('gemini-cli', { allEvents: true })).toContain('BeforeToolSelection')
  })

  test('none that would make an agent do something else, or come twice', () => {
    expect(eventsOf('claude-code', { allEvents: true })).not.toContain('WorktreeCreate')
    const copilot = eventsOf('copilot-cli', { allEvents: true })
    expect(copilot.filter((event) => /^[A-Z]/.test(event))).toEqual([])
    expect(eventsOf('cursor', { allEvents: true })).not.toContain('beforeShellExecution')
  })

  test('gates close by what their host honours', () => {
    const [claude, cursor] = ['claude-code', 'cursor'].map(
      (name) => commandHosts.find(({ agent }) => agent === name)!,
    )
    const entry = (host: CommandHost, event: string, more: object = {}) =>
      hookEntry(host, calls(host, more).find((call) => call.event === event)!).value
    expect(entry(claude!, 'PreToolUse')).toEqual({
      type: 'command',
      command: expect.stringMatching(
        / hookhelm \/opt\/hookhelm-hook claude-code PreToolUse --socket \/run\/s\.sock --spool \/spool --within 55000 --refuse tool$/,
      ),
      timeout: 60,
      onFailure: 'block',
    })
    expect(entry(claude!, 'PermissionRequest').command).toMatch(/ --refuse permission-any$/)
    expect(entry(claude!, 'Stop')).not.toHaveProperty('onFailure')
    expect(entry(claude!, 'PreToolUse', { failOpen: true })).not.toHaveProperty('onFailure')
    expect(entry(cursor!, 'preToolUse')).toMatchObject({ failClosed: true, timeout: 60 })
  })
})
