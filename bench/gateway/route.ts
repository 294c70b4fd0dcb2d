import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freshDatabase } from '../../test/postgres/database.ts'
import { startServer } from '../../test/postgres/server.ts'
import { type Figure, faster } from '../figure.ts'
import { load } from './load.ts'
import { roundTrips } from './round-trips.ts'

const CONNECTIONS = 32
const ROUND_MS = 1_500
const ROUNDS = 4
/** What a burst left to be done is done by then, so that it does not count on the other side. */
const REST_MS = 5_000

const body = JSON.stringify({
  event: 'pre_tool_use',
  payload: {
    tool_name: 'Bash',
    tool_input: { command: 'git status --short', description: 'x'.repeat(800) },
  },
  envelope: { session: 's1', agent: 'claude' },
})

interface Started {
  readonly child: ChildProcess
  readonly port: number
  readonly token?: string
  readonly socket?: string
}

/** The dispatch route with three function hooks and audit on, to a bare JSON echo; and the local socket to HTTP. */
export async function routeFigures(): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-bench-'))
  const start = async (name: string, args: readonly string[] = []): Promise<Started> => {
    const file = fileURLToPath(new URL(name, import.meta.url))
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      HOOKHELM_HOME: join(home, args.length === 0 ? 'lite' : 'pg'),
    }
    const child = fork(file, args, { env, execArgv: [] })
    const [told] = (await once(child, 'message')) as [Omit<Started, 'child'>]
    return { ...told, child }
  }
  const postgres = await startServer()
  const { url, drop } = await freshDatabase(postgres)
  const echo = await start('./echo-server.ts')
  const sqlite = await start('./gateway-server.ts')
  const pg = await start('./gateway-server.ts', [url])
  try {
    const rates = await compared({ echo, sqlite, pg })
    const trips = await roundTrips(
      { port: sqlite.port, path: '/v1/dispatch', token: sqlite.token ?? '', body },
      sqlite.socket ?? '',
    )
    return [
      rate('dispatch over HTTP with audit on SQLite, to a bare echo', rates.sqlite, rates.echo, 0.6),
      rate('the same on PostgreSQL', rates.pg, rates.echo, 0.4),
      faster('a round trip on the unix socket, to HTTP keep-alive', trips.socket, trips.http, 4),
    ]
  } finally {
    for (const { child } of [sqlite, pg]) {
      child.send('stop')
      await once(child, 'exit')
    }
    echo.child.kill()
    await drop()
    await postgres.remove()
    rmSync(home, { recursive: true, force: true })
  }
}

/** The best round of each, taken in turns. */
async function compared<K extends string>(servers: Readonly<Record<K, Started>>): Promise<Record<K, number>> {
  const best: Partial<Record<K, number>> = {}
  const entries = Object.entries(servers) as [K, Started][]
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { port, token }] of entries) {
      const target = {
        port,
        path: token === undefined ? '/' : '/v1/dispatch',
        body,
        ...(token === undefined ? {} : { token }),
      }
      const { perSecond, bad } = await load(target, CONNECTIONS, ROUND_MS)
      if (bad > 0) throw new Error(`${name} refused ${bad} requests`)
      best[name] = Math.max(best[name] ?? 0, perSecond)
      if (token !== undefined) await sleep(REST_MS)
    }
  }
  return best as Record<K, number>
}

function rate(name: string, ours: number, theirs: number, goal: number): Figure {
  const detail = `${Math.round(ours)} against ${Math.round(theirs)} requests a second`
  return { name, value: ours / theirs, unit: '×', goal, better: 'at least', detail }
}
