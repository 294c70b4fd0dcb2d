import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { EventRecord } from '../../src/history/audit-tables.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase } from '../../test/postgres/database.ts'
import { startServer } from '../../test/postgres/server.ts'
import type { Figure } from '../figure.ts'

const GROUP = 100
const GROUPS = 20
const ROUNDS = 5
const DELIVERIES = 5_000
const keyring = { current: { id: 'k', key: 'ab'.repeat(32) } }

/** What the stores take in a second: audit groups to the raw driver's batch of the same bytes, and deliveries. */
export async function storeFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-bench-store-'))
  const postgres = await startServer()
  const database = await freshDatabase(postgres)
  const raw = await freshDatabase(postgres)
  const sqlite = await openSqliteStore({ file: join(folder, 'store.db'), keyring })
  const server = await openPostgresStore({ url: database.url, keyring, edition: 'lite' })
  const rawFile = rawSqlite(join(folder, 'raw.db'))
  const rawServer = await rawPostgres(raw.url)
  try {
    const audit = await flushRates({
      sqlite: recording(sqlite, await tenantOf(sqlite)),
      rawSqlite: rawFile.write,
      pg: recording(server, await tenantOf(server)),
      rawPg: rawServer.write,
    })
    const deliveries = { sqlite: await claimed(sqlite), pg: await claimed(server) }
    return [
      ratioOf('audit flush on SQLite, to the raw driver', audit.sqlite, audit.rawSqlite, 0.8),
      ratioOf('audit flush on PostgreSQL, to the raw driver', audit.pg, audit.rawPg, 0.8),
      perSecond('deliveries claimed and ended on SQLite', deliveries.sqlite),
      perSecond('deliveries claimed and ended on PostgreSQL', deliveries.pg),
    ]
  } finally {
    rawFile.close()
    await rawServer.close()
    await Promise.all([sqlite.close(), server.close()])
    await Promise.all([database.drop(), raw.drop()])
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Write = (group: readonly EventRecord[]) => Promise<void>

async function tenantOf(store: Store): Promise<string> {
  const id = randomUUID()
  await store.createTenant({ id, name: id, created_at: 1 })
  return id
}

function recording(store: Store, tenant: string): Write {
  return (group) =>
    store.recordEvents(
      group.map((event) => ({ ...event, tenant })),
      [],
      [],
    )
}

/** One row per dispatch, of the same bytes, in one transaction per group. */
function rawSqlite(file: string): { write: Write; close(): void } {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(
    'create table audit (id text primary key, at integer, body text); create index by_time on audit (at)',
  )
  const insert = database.prepare('insert into audit values (?, ?, ?)')
  return {
    async write(group) {
      database.exec('begin immediate')
      for (const event of group) insert.run(event.event_id, event.time, JSON.stringify(event))
      database.exec('commit')
    },
    close: () => database.close(),
  }
}

async function rawPostgres(url: string): Promise<{ write: Write; close(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: url })
  await pool.query('create table audit (id text primary key, at int8, body text)')
  await pool.query('create index by_time on audit (at)')
  return {
    async write(group) {
      const columns = [
        group.map((e) => e.event_id),
        group.map((e) => e.time),
        group.map((e) => JSON.stringify(e)),
      ]
      await pool.query('insert into audit select * from unnest($1::text[], $2::int8[], $3::text[])', columns)
    },
    close: () => pool.end(),
  }
}

/** Dispatches a second, the best of several rounds in turns. */
async function flushRates<K extends string>(writers: Readonly<Record<K, Write>>): Promise<Record<K, number>> {
  const best: Partial<Record<K, number>> = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, write] of Object.entries(writers) as [K, Write][]) {
      const groups = Array.from({ length: GROUPS }, () => Array.from({ length: GROUP }, () => sample()))
      const began = performance.now()
      for (const group of groups) await write(group)
      const rate = (GROUPS * GROUP * 1_000) / (performance.now() - began)
      best[name] = Math.max(best[name] ?? 0, rate)
      // The rows of what was recorded are made when nobody writes; they must not be made at the expense of the next.
      await new Promise((resolve) => setTimeout(resolve, 1_500))
    }
  }
  return best as Record<K, number>
}

function sample(): EventRecord {
  const event_id = randomUUID()
  return {
    tenant: '',
    event_id,
    event: 'pre_tool_use',
    time: Date.now(),
    session_id: 's',
    agent_id: null,
    kind: 'allow',
    by_hook: null,
    code: null,
    duration_ms: 1,
    request: JSON.stringify({
      event: 'pre_tool_use',
      payload: { tool_name: 'Bash', tool_input: { command: 'x'.repeat(800) } },
    }),
    answer: '{"decision":{"kind":"allow"}}',
    summary: { agent: 'claude-code', folder: '/home/ada/work/shop-api', tool: 'Bash', what: 'x'.repeat(800) },
    executions: Array.from({ length: 3 }, (_, index) => ({
      hook_id: randomUUID(),
      handler_type: 'function',
      decision: 'allow',
      duration_ms: 0.1,
      retry: 0,
      dedup_key: `${index}:${event_id}`,
      code: null,
      error: null,
      error_detail: null,
      shadow: false,
      metadata: { matcher_matched: true },
      tally: { hook_name: 'Guard', rewrote: false, repeated: false },
    })),
  }
}

async function claimed(store: Store): Promise<number> {
  const tenant = await tenantOf(store)
  const now = Date.now()
  const all = Array.from({ length: DELIVERIES }, () => ({
    id: randomUUID(),
    tenant,
    kind: 'bench',
    dedup_key: randomUUID(),
    payload: '{"hook":"h","event":"session_end","payload":{},"envelope":{}}',
    due_at: now,
    created_at: now,
  }))
  for (let from = 0; from < all.length; from += 500)
    await store.recordEvents([], all.slice(from, from + 500), [])
  let done = 0
  const began = performance.now()
  const worker = async (name: string) => {
    for (;;) {
      const batch = await store.claimDeliveries({
        kinds: ['bench'],
        limit: 100,
        now,
        lease_ms: 60_000,
        worker: name,
      })
      if (batch.length === 0) return
      const ended = await store.endDeliveries(
        batch.map(({ id, lease }) => ({ id, lease, end: 'done' as const })),
        now,
      )
      done += ended.length
    }
  }
  await Promise.all([worker('a'), worker('b')])
  if (done !== DELIVERIES) throw new Error(`${done} of ${DELIVERIES} deliveries were done`)
  return (DELIVERIES * 1_000) / (performance.now() - began)
}

function ratioOf(name: string, ours: number, theirs: number, goal: number): Figure {
  const detail = `${Math.round(ours)} against ${Math.round(theirs)} dispatches a second`
  return { name, value: ours / theirs, unit: '×', goal, better: 'at least', detail }
}

function perSecond(name: string, value: number): Figure {
  return { name, value, unit: '/s', goal: 5_000, better: 'at least' }
}
