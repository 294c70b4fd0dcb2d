import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { machineNow, type Withheld, withheld } from './withheld.fixture.ts'

const script = fileURLToPath(new URL('./gateway-child.fixture.ts', import.meta.url))

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly body: any
  /** When it arrived, by the clock of the machine. */
  readonly at: number
}

export interface Death {
  /** Right before the signal was sent. */
  readonly at: number
  readonly withheld: Withheld
}

/** A gateway in another process, with data that survives it. */
export interface ChildGateway {
  readonly url: string
  /** The time from the start of the process until it answered. */
  readonly readyMs: number
  /** Rejects if the process ends before it answers. */
  call(verb: string, path: string, body?: unknown, tenant?: string): Promise<Reply>
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<Death>
  /** Sends SIGTERM, as an operator would. */
  end(): Promise<void>
}

export interface ChildOptions {
  readonly home: string
  readonly database?: string | undefined
  /** How far the gateway's clock is ahead. */
  readonly aheadMs?: number
}

export async function childGateway({ home, database, aheadMs = 0 }: ChildOptions): Promise<ChildGateway> {
  const began = machineNow()
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const marks = join(home, 'marks')
  const args = [
    '--disable-warning=ExperimentalWarning',
    script,
    ...(database === undefined ? [] : [database]),
  ]
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      HOOKHELM_HOME: home,
      HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32),
      CLOCK_AHEAD_MS: String(aheadMs),
      MARKS: marks,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const gone = once(child, 'exit')
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    gone.then(() => {
      throw new Error(`the gateway did not start: ${complaint}`)
    }),
  ])
  const readyMs = machineNow() - began
  const { url, token }: { url: string; token: string } = JSON.parse(line)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const close = async () => {
    await gone
    agent.destroy()
  }
  return {
    url,
    readyMs,
    call: (verb, path, body, tenant) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
      }
      return send(`${url}${path}`, { method: verb, headers, agent }, body)
    },
    async kill() {
      const at = machineNow()
      child.kill('SIGKILL')
      await close()
      return { at, withheld: withheld(marks, at) }
    },
    async end() {
      child.kill('SIGTERM')
      await close()
    },
  }
}

function send(
  url: string,
  options: { method: string; headers: Readonly<Record<string, string>>; agent: Agent },
  body: unknown,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (!response.complete) return reject(new Error('cut off'))
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text), at: machineNow() })
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
