import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning } from '../../src/safe/process/process-table.ts'
import { type Client, clients, start } from './clients.fixture.ts'
import { args, type FakeGateway, fakeGateway, replyLine } from './fake-gateway.fixture.ts'

/** The processes above a client are real ones, because only the system knows who is whose parent. */
const CANCELLED = /\n\{"id":1,"cancel":true\}\n$/
const HANG_GUARD = { timeout: 60_000 }
const pendingLine = () =>
  `{"id":1,"pending":"waits for approval apr_0123456789abcdef","until_ms":${Date.now() + 600_000}}\n`

/** An agent that starts its hook with the given words and options, prints how it ended, and does nothing else. */
const AGENT = `
  const { spawn } = require('node:child_process')
  const [words, options] = JSON.parse(process.env.HOOK)
  if (process.env.AGAIN === '1') {
    process.env.AGAIN = ''
    spawn(process.execPath, ['--no-warnings', ...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' })
    setInterval(() => {}, 1e6)
  } else {
    const hook = spawn(words[0], words.slice(1), { stdio: ['pipe', 'ignore', 'ignore'], ...options })
    hook.stdin.end('{}')
    hook.once('exit', (code) => process.stdout.write(String(code), () => process.exit()))
  }
`

/** How agents start a hook: the words and options of the process. The client's stdout leads nowhere, so it tells nothing. */
const ways: Readonly<
  Record<string, (words: readonly string[], line: string) => readonly [readonly string[], object?]>
> = {
  'by itself': (words) => [words],
  'through sh -c': (_, line) => [['/bin/sh', '-c', `${line}; exit $?`]],
  'through two shells': (_, line) => [['/bin/sh', '-c', `/bin/sh -c '${line}; exit $?'; exit $?`]],
  'through bash -c with a pipeline': (_, line) => [['bash', '-c', `(${line}; true) | cat`]],
  'with shell: true': (_, line) => [[`${line}; exit $?`], { shell: true }],
  detached: (_, line) => [['/bin/sh', '-c', `${line}; exit $?`], { detached: true }],
}

interface HookStart {
  readonly way: string
  readonly gateway: FakeGateway
  readonly client: Client
  /** The agent starts itself again, as the first process or below a program of its own. */
  readonly again?: boolean
  readonly launcher?: readonly string[]
}

function startAgent({ way, gateway, client, again = false, launcher = [] }: HookStart): ChildProcess {
  const [program = '', ...more] = [...launcher, process.execPath, '-e', AGENT, 'go']
  const words = [...client.command, ...args(gateway.socket, '--wait', '600000')]
  const HOOK = JSON.stringify(ways[way]?.(words, words.map((word) => `"${word}"`).join(' ')))
  const env = { ...process.env, HOOK, ...(again ? { AGAIN: '1' } : {}) }
  const agent = spawn(program, more, { stdio: ['ignore', 'pipe', 'inherit'], env })
  onTestFinished(() => void agent.kill('SIGKILL'))
  return agent
}

/** Answers the process of the client when it waits for a person. */
async function isWaiting({ asked, heard }: FakeGateway): Promise<number> {
  await asked
  const pid = Number(/"pid":(\d+)/.exec(heard[0] ?? '')?.[1])
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  })
  await hasLooked(pid, 0)
  return pid
}

/** Each look reads files of the system, and nothing else makes a waiting client read. */
async function hasLooked(pid: number, reads: number): Promise<void> {
  const count = () => Number(/syscr: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
  const from = count()
  await expect.poll(count, HANG_GUARD).toBeGreaterThan(from + reads)
}

const isWithdrawn = ({ heard }: FakeGateway) => expect.poll(() => heard[0], HANG_GUARD).toMatch(CANCELLED)

describe.runIf(process.platform === 'linux').each(clients)(
  '$name: a question whose agent has ended',
  (client) => {
    const asking = () => fakeGateway((socket) => socket.write(pendingLine()))

    test.each([
      ...Object.keys(ways).map((way) => [way, 'SIGKILL'] as const),
      ['through sh -c', 'SIGTERM'] as const,
    ])('is withdrawn: a hook started %s, an agent ended by %s', async (way, signal) => {
      const gateway = await asking()
      const agent = startAgent({ way, gateway, client })
      const pid = await isWaiting(gateway)
      agent.kill(signal)
      await isWithdrawn(gateway)
      await expect.poll(() => isRunning(pid), HANG_GUARD).toBe(false)
    })

    test('is withdrawn if the agent had started itself again, and only its first process was ended', async () => {
      const gateway = await asking()
      const agent = startAgent({ way: 'through sh -c', gateway, client, again: true })
      await isWaiting(gateway)
      agent.kill('SIGKILL')
      await isWithdrawn(gateway)
    })

    test('is withdrawn if the agent ends the client, too', async () => {
      const gateway = await asking()
      const hook = start(client, args(gateway.socket, '--wait', '600000'))
      hook.write('{}')
      hook.end()
      await isWaiting(gateway)
      hook.kill('SIGTERM')
      await isWithdrawn(gateway)
      const stderr = 'hookhelm: interrupted by a signal\n'
      expect(await hook.ended).toMatchObject({ code: 2, stdout: '', stderr })
    })

    test.runIf(client.isNative)(
      'is withdrawn if nobody reads the stdout of the client any more',
      async () => {
        const gateway = await asking()
        const hook = start(client, args(gateway.socket, '--wait', '600000'))
        hook.write('{}')
        hook.end()
        await isWaiting(gateway)
        await hook.closeStdout()
        await isWithdrawn(gateway)
        const stderr = 'hookhelm: the caller left before a person answered\n'
        expect(await hook.ended).toMatchObject({ code: 2, stderr })
      },
    )

    test.each([
      ['in the background of a shell', '"$@" & exit 0'],
      ['with nohup, in a session of its own', 'nohup setsid "$@" & exit 0'],
    ])('stays while an agent lives whose parent has ended: it was started %s', async (_, script) => {
      const gateway = await asking()
      const launcher = ['/bin/sh', '-c', script, 'sh']
      const agent = startAgent({ way: 'through sh -c', gateway, client, launcher })
      const ended = once(agent, 'exit')
      const pid = await isWaiting(gateway)
      await ended
      await hasLooked(pid, 20)
      ;(await gateway.asked).write(replyLine({ exit: 7 }))
      const [code] = await once(agent.stdout ?? agent, 'data')
      expect(String(code)).toBe('7')
    })
  },
)
