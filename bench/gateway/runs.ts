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
import { systemClock } from '../../src/engine/core/time/clock.ts'
import { Coordinator } from '../../src/runs/coordinator.ts'
import { Runner } from '../../src/runs/runner/runner.ts'
import { demandKeys } from '../../src/runs/stored/demand-keys.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { memoryTokenBudget } from '../../test/memory-token-budget.fixture.ts'
import { freshDatabase, type TestDatabase } from '../../test/postgres/database.ts'
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
    bareSqlite: await bareSqliteClaimer(join(folder, 'bare.db')),
    postgres: await pollClaimer(server),
    barePostgres: await barePostgresClaimer(bare),
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
    ratio('runs claimed by polls on SQLite, to the bare statement', best.sqlite, best.bareSqlite),
    ratio('runs claimed by polls on PostgreSQL, to the bare statement', best.postgres, best.barePostgres),
  ]
}

const parameters = { topic: 'x'.repeat(200) }
const demands = { executor_type: 'command' }

/** Polls of ten runners, as the gateway serves them. */
async function pollClaimer(store: Store): Promise<Claimer> {
  const tenant = await newTenant(store)
  const coordinator = new Coordinator({
    ...{
      store,
      edition: 'lite',
      clock: systemClock,
      log: () => {},
      times: { pollMs: 1, leaseMs: 3_600_000 },
    },
    dispatch: async () => ({ kind: 'allow' }),
    needsHooks: async () => [],
    hasHooks: async () => false,
    toolCallAgents: async () => [],
    proofs: { of: () => '', read: () => '' },
    budget: memoryTokenBudget({ clock: systemClock }),
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
    fill: (count) => fillRuns(store, tenant, count),
    claim: async () => (await Promise.all(runners.map(claimAll))).reduce((sum, count) => sum + count),
    async close() {
      await coordinator.close()
      await store.close()
    },
  }
}

async function newTenant(store: Store): Promise<string> {
  const id = randomUUID()
  await store.createTenant({ id, name: id, created_at: 1 })
  return id
}

async function fillRuns(store: Store, tenant_id: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await store.createRun(
      {
        ...{
          run_id: `run_${randomUUID()}`,
          session_id: `ses_${randomUUID()}`,
          tenant_id,
          parameters,
          demands,
        },
        ...{ type: 'start_session', agent_name: 'a', project_dir: null, parent_session_id: null },
        ...{ parent_run_id: null, execution_mode: 'async_poll', hook_point: null, depth: 0, key: null },
        ...{ created_by: 'bench', claim_within_ms: 3_600_000 },
      },
      { hostname: null, executor_profile: null },
    )
}

/** Everything else is the same: the table with its indexes, the rows, and what a claim writes. */
const bareClaim = (time: string, isLocked: boolean) => `update runs set status = 'claimed', runner_id = 'r',
    attempts = attempts + 1, claimed_at = ${time}, lease = 'l', lease_ms = 3600000, due_at = ${time} + 3600000
  where position = (
    select position from runs
    where tenant_id = $1 and status = 'pending' and demand_key = $2 and tag_keys = ''
    order by position limit 1 ${isLocked ? 'for update skip locked' : ''})
  returning *`
const { demand_key: demandKey } = demandKeys(demands)

/** One connection that claims one run after the other. */
async function bareSqliteClaimer(file: string): Promise<Claimer> {
  const store = await openSqliteStore({ file, keyring })
  const tenant = await newTenant(store)
  const database = new DatabaseSync(file)
  database.exec('pragma synchronous = full')
  const claim = database.prepare(
    bareClaim("cast(unixepoch('subsec') * 1000 as integer)", false).replace('$1', '?').replace('$2', '?'),
  )
  return {
    fill: (count) => fillRuns(store, tenant, count),
    async claim() {
      for (let count = 0; ; count++) if (claim.all(tenant, demandKey).length === 0) return count
    },
    async close() {
      database.close()
      await store.close()
    },
  }
}

/** Ten connections, as many as there are runners. */
async function barePostgresClaimer({ url, superUrl }: TestDatabase): Promise<Claimer> {
  const store = await openPostgresStore({ url, keyring, edition: 'lite' })
  const tenant = await newTenant(store)
  // A superuser, whom no row-level security delays.
  const pool = new pg.Pool({ connectionString: superUrl, max: RUNNERS })
  const text = bareClaim('(extract(epoch from clock_timestamp()) * 1000)::int8', true)
  const claimAll = async (): Promise<number> => {
    for (let count = 0; ; count++) {
      const { rows } = await pool.query({ name: 'claim', text, values: [tenant, demandKey] })
      if (rows.length === 0) return count
    }
  }
  return {
    fill: (count) => fillRuns(store, tenant, count),
    claim: async () =>
      (await Promise.all(Array.from({ length: RUNNERS }, claimAll))).reduce((sum, count) => sum + count),
    async close() {
      await pool.end()
      await store.close()
    },
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
  const { means, dispose } = createRunnerMeans({
    env: {},
    client,
    log: () => {},
    cwd: tmpdir(),
    folders: () => [],
  })
  const runner = new Runner({
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
