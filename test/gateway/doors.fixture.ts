import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { Running } from './running.fixture.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever a frame carries, for tests to look into
export type Frame = any

export interface Socket {
  /** Every frame that came, the hello first. */
  readonly frames: Frame[]
  /** Sends a frame as it stands and answers the frame with the same id. */
  send(frame: { readonly id: string | number; readonly [field: string]: unknown }): Promise<Frame>
  call(method: string, params?: unknown): Promise<Frame>
  raw(data: string | Buffer): void
  /** The first frame that is as wanted, whether it came already or comes later. */
  frame(isRight: (frame: Frame) => boolean): Promise<Frame>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

/** A WebSocket of a client. Resolves once the gateway said hello. */
export async function socketOf(
  { url, token }: { readonly url: string; readonly token: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Socket> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  const frames: Frame[] = []
  const waiting = new Set<() => void>()
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)))
    for (const look of waiting) look()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  onTestFinished(() => ws.terminate())
  const frame: Socket['frame'] = (isRight) =>
    new Promise((resolve) => {
      const look = () => {
        const found = frames.find(isRight)
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  await new Promise<void>((resolve, reject) => {
    ws.once('open', () => resolve())
    ws.once('error', reject)
  })
  await frame(({ event }) => event === 'hello')
  let count = 0
  const send: Socket['send'] = (request) => {
    ws.send(JSON.stringify(request))
    return frame(({ type, id }) => type === 'res' && id === request.id)
  }
  return {
    frames,
    frame,
    closed,
    send,
    raw: (data) => ws.send(data),
    call: (method, params) => send({ type: 'req', id: `call-${++count}`, method, params }),
  }
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface HookhelmOptions {
  readonly stdin?: string
  onOutput?(text: string, child: ChildProcess): void
}

/** The command line as a person starts it, on the machine of the gateway. */
export function hookhelm(
  gateway: Running,
  args: readonly string[],
  { stdin = '', onOutput }: HookhelmOptions = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), ...args], {
    cwd: gateway.home,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: gateway.home,
      HOOKHELM_HOME: gateway.home,
      HOOKHELM_URL: gateway.url,
      NO_COLOR: '1',
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
    onOutput?.(String(chunk), child)
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end(stdin)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

/** A token that the owner makes. */
export async function tokenFor(
  gateway: Running,
  params: { readonly role: string; readonly [field: string]: unknown },
  tenant?: string,
): Promise<{ readonly token: string; readonly tokenId: string }> {
  const headers = tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }
  const { status, body } = await gateway.call('POST', '/v1/tokens', { name: params.role, ...params }, headers)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

/** Headers of somebody else than the owner. */
export function as(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

/** Takes tables away from under a running gateway, as a store that fails; give them back with the answer. */
export function withoutTables({ home }: Pick<Running, 'home'>, ...tables: readonly string[]): () => void {
  const run = (from: (table: string) => string, to: (table: string) => string) => {
    const database = new DatabaseSync(join(home, 'hookhelm.db'), { timeout: 60_000 })
    // Else the references of other tables would follow the new name.
    database.exec('pragma legacy_alter_table = on; pragma foreign_keys = off')
    for (const table of tables) database.exec(`alter table ${from(table)} rename to ${to(table)}`)
    database.close()
  }
  const away = (table: string) => `${table}_away`
  const here = (table: string) => table
  run(here, away)
  return () => run(away, here)
}

/** Every cell of every table, as the file holds it. */
export function cellsOf({ home }: Pick<Running, 'home'>): { table: string; column: string; text: string }[] {
  const database = new DatabaseSync(join(home, 'hookhelm.db'), { readOnly: true })
  try {
    const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all()
    return tables.flatMap(({ name: table }) =>
      database
        .prepare(`select * from "${String(table)}"`)
        .all()
        .flatMap((row) =>
          Object.entries(row).map(([column, value]) => ({
            table: String(table),
            column,
            text: value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
          })),
        ),
    )
  } finally {
    database.close()
  }
}
