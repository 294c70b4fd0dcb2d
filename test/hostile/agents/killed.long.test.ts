import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Ended, nativeClient, nodeClient, run } from '../../agents-client/clients.fixture.ts'

const script = fileURLToPath(new URL('./lite-child.fixture.ts', import.meta.url))
const client = nativeClient ?? nodeClient

interface Local {
  readonly child: ChildProcess
  readonly url: string
  readonly token: string
  readonly socket: string
}

async function local(home: string): Promise<Local> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      HOOKHELM_HOME: home,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(String(line)) }
}

async function end({ child }: Local, signal: NodeJS.Signals): Promise<void> {
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the route answers, for tests to look into
async function ask({ url, token }: Local, verb: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method: verb,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return await response.json()
}

const isBlocked = ({ code, stdout }: Ended) =>
  code === 2 ? stdout === '' : code === 0 && stdout.includes('"permissionDecision":"deny"')

test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
  'a gateway that ends by %s under load lets nothing through, and loses nothing',
  async (signal) => {
    const home = mkdtempSync(join(tmpdir(), 'hh-killed-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const spool = join(home, 'spool')
    mkdirSync(spool, { mode: 0o700 })
    const first = await local(home)
    await ask(first, 'POST', '/v1/hooks', {
      scope: 'tenant',
      event: 'pre_tool_use',
      handler_type: 'function',
      config: { name: 'guard' },
    })
    const call = (index: number) =>
      run(
        client,
        ['claude-code', 'PreToolUse', '--socket', first.socket, '--spool', spool, '--within', '20000'],
        JSON.stringify({
          session_id: 's1',
          cwd: home,
          tool_name: 'Bash',
          tool_input: { command: `rm ${index}` },
          tool_use_id: `call-${index}`,
        }),
      )
    const count = 120
    const wave = (from: number) => Array.from({ length: count / 3 }, (_, index) => call(from + index))
    const calls = wave(0)
    await Promise.race(calls)
    calls.push(...wave(count / 3))
    await end(first, signal)
    const second = await local(home)
    calls.push(...wave((2 * count) / 3))
    const ended = await Promise.all(calls)
    expect(ended.filter((each) => !isBlocked(each))).toEqual([])
    await expect.poll(() => readdirSync(spool), { interval: 20 }).toEqual([])
    const { events } = await ask(second, 'GET', '/v1/sessions/s1/timeline?limit=200')
    const seen = events.map(({ moment }: { moment: { tool_call?: string } }) => moment.tool_call)
    expect(new Set(seen)).toEqual(new Set(calls.map((_, index) => `call-${index}`)))
    await end(second, 'SIGTERM')
  },
)
