import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'
import { freshDatabase } from '../postgres/database.ts'
import type { ChildOptions } from './gateway-child.fixture.ts'
import type { DatabaseKind, Reachable } from './runs.fixture.ts'

/** A folder that is gone when the test is over. */
export function scratchFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'hookhelm-runs-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A gateway in a process of its own. */
export interface GatewayProcess extends Reachable, Pick<Running, 'call' | 'until'> {
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>
  /** The unix socket, if its options ask for one. */
  readonly socket?: string
  /** Sends a signal. Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>
  kill(): Promise<void>
}

/** One data folder, and gateway processes that use it one after the other, on one port. */
export interface GatewayHome {
  open(options?: ChildOptions): Promise<GatewayProcess>
  /** One statement on the database. On SQLite no gateway may run. */
  execute(statement: string): Promise<void>
}

/** `database` is the URL of a PostgreSQL database; without it the gateway has its own SQLite. */
export function gatewayHome(database?: { readonly url: string; query(sql: string): Promise<unknown> }) {
  const home = scratchFolder()
  let port = 0
  return {
    async open(options: ChildOptions = {}): Promise<GatewayProcess> {
      const shared = database === undefined ? {} : { database: database.url }
      const gateway = await gatewayProcess(home, { port, ...shared, ...options })
      port = Number(new URL(gateway.url).port)
      return gateway
    },
    async execute(statement: string): Promise<void> {
      if (database !== undefined) await database.query(statement)
      else executeOnFile(join(home, 'hookhelm.db'), statement)
    },
  } satisfies GatewayHome
}

/** A home on either database. */
export async function homeOn(kind: DatabaseKind): Promise<GatewayHome> {
  if (kind === 'SQLite') return gatewayHome()
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  return gatewayHome(database)
}

function executeOnFile(file: string, statement: string): void {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
  // Closing merged the write-ahead log, which the marker says must be there.
  rmSync(`${file}-open`, { force: true })
}

async function gatewayProcess(home: string, options: ChildOptions): Promise<GatewayProcess> {
  const script = fileURLToPath(new URL('./gateway-child.fixture.ts', import.meta.url))
  const { PATH, NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [script], {
    env: {
      ...{ PATH, NODE_COMPILE_CACHE, HOME: home, HOOKHELM_HOME: home },
      ...{ HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32), CHILD_OPTIONS: JSON.stringify(options) },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  const kill = () => end('SIGKILL')
  onTestFinished(kill)
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(([code]) => Promise.reject(new Error(`the gateway ended with ${code}`))),
  ])
  const { url, token, socket }: Reachable & { readonly socket?: string } = JSON.parse(line)
  const call: Running['call'] = async (verb, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: verb,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text), headers: response.headers }
  }
  return { url, token, call, until, ended, end, kill, ...(socket === undefined ? {} : { socket }) }
}

const until: Running['until'] = async (ask, isRight) => {
  for (;;) {
    const answer = await ask()
    if (isRight(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
