import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openGateway } from '../../src/app/gateway/open-gateway.ts'
import { runnerGateway } from '../../src/app/runner-gateway.ts'
import { createRunnerMeans } from '../../src/app/runner-means.ts'
import { createClient } from '../../src/client/index.ts'
import { systemClock } from '../../src/engine/core/clock.ts'
import { createCoordinator } from '../../src/runs/coordinator.ts'
import { startRunner } from '../../src/runs/runner/runner.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase } from '../../test/postgres/database.ts'
import { type PostgresServer, startServer } from '../../test/postgres/server.ts'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'

const ROUNDS = 5
const CLAIMS = 400
const RUNNERS = 10
const STARTS = 60
const KEY = 'ab'.repeat(32)
const keyring = { current: { id: 'k', key: KEY } }
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** How fast runners get runs: claims a second against the bare claim of the driver, and the way from a request to a start. */
export async function runFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-bench-runs-'))
  const postgres = await startServer()
  try {
    return [...(await claimFigures(folder, postgres)), ...(await startFigures(folder, postgres))]
  } finally {
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One way to claim. `fill` adds waiting runs; `claim` takes all of them and returns how many it got. */
interface Claimer {
  fill(count: number): Promise<void>
  claim(): Promise<number>
  close(): Promise<void>
}

async function claimFigures(folder: string, postgres: PostgresServer): Promise<Figure[]> {
  const [own, bare] = [await freshDatabase(postgres), await freshDatabase(postgres)]
  const sqlite = await openSqliteStore({ file: join(folder, 'claims.db'), keyring })
  const server = await openPostgresStore({ url: own.url, keyring, edition: 'lite' })
  const claimers = {
    sqlite: await pollClaimer(sqlite),
    rawSqlite: rawSqliteClaimer(join(folder, 'raw.db')),
    postgres: await pollClaimer(server),
    rawPostgres: await rawPostgresClaimer(bare.url),
  }
  const best: Partial<Record<string, number>> = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, { fill, claim }] of Object.entries(claimers)) {
      await fill(CLAIMS)
      const began = performance.now()
      const claimed = await claim()
      const rate = (CLAIMS * 1_000) / (performance.now() - began)
      if (claimed !== CLAIMS) throw new Error(`${name} claimed ${claimed} of ${CLAIMS} runs`)
      best[name] = Math.max(best[name] ?? 0, rate)
    }
  for (const { close } of Object.values(claimers)) await close()
  await Promise.all([own.drop(), bare.drop()])
  const ratio = (name: string, ours = 0, theirs = 0): Figure => ({
    ...{ name, value: ours / theirs, unit: '×', goal: 0.5, better: 'at least' },
    detail: `${Math.round(ours)} against ${Math.round(theirs)} claims a second`,
  })
  return [
    ratio('runs claimed by polls on SQLite, to the bare statement', best.sqlite, best.rawSqlite),
    ratio('runs claimed by polls on PostgreSQL, to the bare statement', best.postgres, best.rawPostgres),
  ]
}

const parameters = { topic: 'x'.repeat(200) }

/** Polls of ten runners, as the gateway serves them. */
async function pollClaimer(store: Store): Promise<Claimer> {
  const tenant = randomUUID()
  await store.createTenant({ id: tenant, name: tenant, created_at: 1 })
  const coordinator = createCoordinator({
    ...{ store, edition: 'lite', clock: systemClock, log: () => {}, times: { pollMs: 1 } },
    dispatch: async () => ({ kind: 'allow' }),
    needsHooks: async () => [],
  })
  const runners = Array.from({ length: RUNNERS }, (_, index) => `lnch_${index}`)
  for (const runner_id of runners)
    await store.registerRunner({
      ...{ tenant_id: tenant, runner_id, hostname: 'h', project_dir: '', executor_profile: 'p' },
      ...{ executor_type: 'command', tags: [], require_matching_tags: false, registered_by: 'bench' },
    })
  const claimAll = async (runner_id: string): Promise<number> => {
    for (let count = 0; ; count++)
      if (!('run' in (await coordinator.poll({ tenant, runner_id, takes_runs: true })))) return count
  }
  return {
    async fill(count) {
      for (let index = 0; index < count; index++) await createRun(store, tenant)
    },
    claim: async () => (await Promise.all(runners.map(claimAll))).reduce((sum, count) => sum + count),
    async close() {
      await coordinator.close()
      await store.close()
    },
  }
}

function createRun(store: Store, tenant_id: string) {
  return store.createRun(
    {
      ...{
        run_id: `run_${randomUUID()}`,
        session_id: `ses_${randomUUID()}`,
        tenant_id,
        type: 'start_session',
      },
      ...{ agent_name: 'a', parameters, project_dir: null, parent_session_id: null, parent_run_id: null },
      ...{ execution_mode: 'async_poll', demands: { executor_type: 'command' }, hook_point: null, depth: 0 },
      ...{ key: null, created_by: 'bench', claim_within_ms: 300_000 },
    },
    { hostname: null, executor_profile: null },
  )
}

const rawColumns = `tenant text not null, run_id text not null unique, session_id text not null, parameters text not null,
  status text not null, runner text, lease text, due_at bigint, claimed_at bigint, attempts bigint not null`
const rawIndex = `create index waiting on runs (tenant, position) where status = 'pending'`
const rawInsert = 'insert into runs (tenant, run_id, session_id, parameters, status, attempts) values'
const rawRun = () => [
  't',
  `run_${randomUUID()}`,
  `ses_${randomUUID()}`,
  JSON.stringify(parameters),
  'pending',
  0,
]

function rawSqliteClaimer(file: string): Claimer {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(`create table runs (position integer primary key, ${rawColumns}); ${rawIndex}`)
  const insert = database.prepare(`${rawInsert} (?, ?, ?, ?, ?, ?)`)
  const claim =
    database.prepare(`update runs set status = 'claimed', runner = ?, lease = ?, due_at = ?, claimed_at = ?,
      attempts = attempts + 1
    where position = (select position from runs where tenant = 't' and status = 'pending' order by position limit 1)
    returning *`)
  return {
    async fill(count) {
      for (let index = 0; index < count; index++) insert.run(...rawRun())
    },
    async claim() {
      for (let count = 0; ; count++) {
        const now = Date.now()
        if (claim.all('r', randomUUID(), now + 45_000, now).length === 0) return count
      }
    },
    async close() {
      database.close()
    },
  }
}

async function rawPostgresClaimer(url: string): Promise<Claimer> {
  const pool = new pg.Pool({ connectionString: url, max: RUNNERS })
  await pool.query(
    `create table runs (position bigint generated always as identity primary key, ${rawColumns})`,
  )
  await pool.query(rawIndex)
  const text = `update runs set status = 'claimed', runner = $1, lease = $2, due_at = $3, claimed_at = $4,
      attempts = attempts + 1
    where position = (select position from runs where tenant = 't' and status = 'pending' order by position limit 1
      for update skip locked)
    returning *`
  const claimAll = async (): Promise<number> => {
    for (let count = 0; ; count++) {
      const now = Date.now()
      const values = ['r', randomUUID(), now + 45_000, now]
      const { rows } = await pool.query({ name: 'claim', text, values })
      if (rows.length === 0) return count
    }
  }
  return {
    async fill(count) {
      for (let index = 0; index < count; index++)
        await pool.query(`${rawInsert} ($1, $2, $3, $4, $5, $6)`, rawRun())
    },
    claim: async () =>
      (await Promise.all(Array.from({ length: RUNNERS }, claimAll))).reduce((sum, count) => sum + count),
    close: () => pool.end(),
  }
}

/** Milliseconds from the request to the stored start, with one idle runner. */
async function startFigures(folder: string, postgres: PostgresServer): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const where of ['SQLite', 'PostgreSQL'] as const)
    for (const how of ['in the process of the gateway', 'in its own process'] as const) {
      const home = join(folder, `${where} ${how}`)
      const database = where === 'SQLite' ? undefined : (await freshDatabase(postgres)).url
      const times = await startTimes({ home, database, isOwnProcess: how === 'in its own process' })
      const worst = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
      figures.push({
        ...{ name: `POST /runs to started on ${where}, runner ${how}, p50`, value: median(times) },
        ...{ unit: 'ms', goal: 50, better: 'at most', detail: `p95 ${worst.toFixed(1)} ms` },
      })
    }
  return figures
}

interface StartScene {
  readonly home: string
  readonly database: string | undefined
  readonly isOwnProcess: boolean
}

async function startTimes({ home, database, isOwnProcess }: StartScene): Promise<number[]> {
  const begun = new Map<string, number>()
  const ended = new Set<string>()
  const gateway = await openGateway({
    listen: { host: '127.0.0.1', port: 0 },
    socket: false,
    env: { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home, HOOKHELM_ENCRYPTION_KEY: KEY },
    ...(database === undefined ? {} : { database }),
    aroundStore: (store) => ({
      ...store,
      async reportRun(tenant, run, runner, report, now) {
        const change = await store.reportRun(tenant, run, runner, report, now)
        if (report.report === 'started') begun.set(run, performance.now())
        return change
      },
      async confirmFinish(tenant, run) {
        await store.confirmFinish(tenant, run)
        ended.add(run)
      },
    }),
  })
  const client = createClient({ url: gateway.url, token: gateway.token })
  const executor = { command: ['/bin/echo', '{}'] }
  await client.call('blueprints.create', { name: 'echo', type: 'procedural', executor })
  const runner = await (isOwnProcess ? runnerProcess(gateway) : ownRunner(gateway))
  const times: number[] = []
  for (let index = 0; index < STARTS; index++) {
    const sent = performance.now()
    const { run_id } = await client.call('runs.start', { agent_name: 'echo', parameters })
    while (!ended.has(run_id)) await new Promise((resolve) => setTimeout(resolve, 5))
    // The runner polls again before the next run.
    await new Promise((resolve) => setTimeout(resolve, 50))
    // The first run loads what later ones have.
    if (index > 0) times.push((begun.get(run_id) ?? Number.NaN) - sent)
  }
  await runner.stop()
  await client.close()
  await gateway.close()
  return times
}

interface Reachable {
  readonly url: string
  readonly token: string
}

/** As `hookhelm up` has it. */
async function ownRunner({ url, token }: Reachable): Promise<{ stop(): Promise<void> }> {
  const client = createClient({ url, token })
  const { means, dispose } = createRunnerMeans({ env: {}, client, log: () => {}, cwd: tmpdir() })
  const runner = startRunner({
    gateway: runnerGateway(client),
    offer: {
      ...{ hostname: 'h', project_dir: '', executor_profile: '', executor_type: 'command' },
      ...{ tags: [], require_matching_tags: false },
    },
    ...means,
    concurrency: 4,
  })
  return {
    async stop() {
      await runner.stop()
      await dispose()
      await client.close()
    },
  }
}

async function runnerProcess({ url, token }: Reachable): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, [main, 'runner'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, HOOKHELM_URL: url, HOOKHELM_TOKEN: token },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  await registered(child)
  return {
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function registered({ stderr }: ChildProcess): Promise<void> {
  if (stderr === null) throw new Error('stderr is not piped')
  for await (const line of createInterface(stderr)) if (line.includes('runner.registered')) return
  throw new Error('the runner did not register')
}
