import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { EventRecord } from '../../src/history/audit-tables.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase } from '../../test/postgres/database.ts'
import { startServer } from '../../test/postgres/server.ts'
import type { Figure } from '../figure.ts'

const EVENTS = 1_000_000
/** Recorded as a gateway would; the rest are copies of these with other times, made inside the database. */
const SEED = 20_000
const DAYS = 30
const ROUNDS = 9
const GOAL_MS = 50
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const keyring = { current: { id: 'k', key: 'ab'.repeat(32) } }

/** How long each method of the web app takes over a million events, the median of several calls. */
export async function viewFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-bench-views-'))
  const postgres = await startServer()
  const database = await freshDatabase(postgres)
  const file = join(folder, 'store.db')
  const sqlite = await openSqliteStore({ file, keyring })
  const server = await openPostgresStore({ url: database.url, keyring, edition: 'lite' })
  const raw = new DatabaseSync(file, { timeout: 60_000 })
  try {
    const onFile = { name: 'SQLite', store: sqlite, run: async (text: string) => raw.exec(text) }
    const onServer = { name: 'PostgreSQL', store: server, run: (text: string) => database.query(text) }
    const figures: Figure[] = []
    for (const target of [onFile, onServer]) figures.push(...(await measure(target)))
    return figures
  } finally {
    raw.close()
    await Promise.all([sqlite.close(), server.close()])
    await database.drop()
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Target {
  readonly name: string
  readonly store: Store
  run(text: string): Promise<unknown>
}

async function measure(target: Target): Promise<Figure[]> {
  const { name, store } = target
  const tenant = randomUUID()
  await store.createTenant({ id: tenant, name: tenant, created_at: 1 })
  const end = Math.floor(Date.now() / DAY) * DAY
  await fill(target, tenant, end)
  const since = end - DAYS * DAY
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'events.list': () => store.listEvents(tenant, {}, { limit: 50 }),
    'events.list of blocks': () => store.listEvents(tenant, { kind: 'block' }, { limit: 50 }),
    'events.list of a session': () => store.listEvents(tenant, { session_id: 's7' }, { limit: 50 }),
    'events.list with a rare text': () => store.listEvents(tenant, { text: 'nowhere' }, { limit: 50 }),
    'events.list with five filters': () =>
      store.listEvents(
        tenant,
        { tool: 'Bash', agent_id: 'a1', min_ms: 1_000, text: 'git', kind: 'allow' },
        { limit: 50 },
      ),
    'stats.decisions of a day by minute': () =>
      store.countDecisions(tenant, { since: end - DAY, until: end, step: MINUTE }),
    'stats.decisions of 30 days by hour': () =>
      store.countDecisions(tenant, { since, until: end, step: 60 * MINUTE }),
    'stats.hooks of a day': () => store.countHooks(tenant, end - DAY),
    'stats.hooks of 30 days': () => store.countHooks(tenant, since),
    'stats.facets of 30 days': () => store.countFacets(tenant, { since: since + 1, until: end - 1 }),
    'stats.facets with a text': () => store.countFacets(tenant, { since, until: end, text: 'git' }),
    'sessions.list': () => store.listSessions(tenant, {}, { limit: 50 }),
    'sessions.get': () => store.findSession(tenant, 's7'),
    'a page of hooks.preview': () => store.recentRequests(tenant, 'pre_tool_use', { limit: 25 }),
  }
  const { nextCursor } = await store.tailEvents(tenant, undefined, { limit: 100, probes: false })
  const figures: Figure[] = []
  for (const [method, call] of Object.entries({
    ...calls,
    'events.tail': () => store.tailEvents(tenant, nextCursor, { limit: 100, probes: false }),
  }))
    figures.push({
      name: `${method} over ${EVENTS / 1_000_000} million events on ${name}`,
      value: await median(call),
      unit: 'ms',
      goal: GOAL_MS,
      better: 'at most',
    })
  return figures
}

/** The first call, which prepares the statement and fills caches, does not count. */
async function median(call: () => Promise<unknown>): Promise<number> {
  await call()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    await call()
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
}

async function fill({ store, run, name }: Target, tenant: string, end: number): Promise<void> {
  const span = (DAYS * DAY * SEED) / EVENTS
  const events = Array.from({ length: SEED }, (_, index) =>
    sample(tenant, index, end - span + Math.floor((index * span) / SEED)),
  )
  for (let from = 0; from < SEED; from += 400)
    await store.recordEvents(events.slice(from, from + 400), [], [])
  await store.holdsSealed()
  const copies = EVENTS / SEED - 1
  for (const statement of copyStatements(copies, Math.floor(span))) await run(statement)
  if (name === 'PostgreSQL') await run('analyze')
}

/** The numbers from 1 to `copies`, as a table `c` with the column `n`. */
const numbersTo = (copies: number) =>
  `(with recursive c (n) as (select cast(1 as bigint) union all select n + 1 from c where n < ${copies}) select n from c) c`

/** Copies the summary of every event, each time by `span` milliseconds earlier. */
export function copySummaries(copies: number, span: number): string {
  return `insert into event_summaries (tenant_id, event_id, event, session_id, agent_id, agent, folder, lane, tool, what, kind,
       rewritten, opened, failed, shadow, by_hook, hook_name, reason, code, duration_ms, created_at, probe)
     select tenant_id, event_id || '-' || n, event, session_id || '-' || n, agent_id, agent, folder, lane, tool, what, kind,
       rewritten, opened, failed, shadow, by_hook, hook_name, reason, code, duration_ms, created_at - n * ${span}, probe
     from event_summaries, ${numbersTo(copies)}`
}

const histogram = Array.from({ length: 17 }, (_, bucket) => `d${bucket}`).join(', ')

/** Copies every recorded row into the earlier spans of the month. */
function copyStatements(copies: number, span: number): readonly string[] {
  const numbers = numbersTo(copies)
  const minutes = `minute - n * ${Math.floor(span / MINUTE) * MINUTE}`
  const hours = (column: string) => `${column} - n * ${Math.floor(span / (60 * MINUTE)) * 60 * MINUTE}`
  return [
    copySummaries(copies, span),
    `insert into sessions (tenant_id, session_id, agent_id, first_at, last_at, events, agent, folder, title,
       tool_calls, blocked, rewritten, asked, hook_ms)
     select tenant_id, session_id || '-' || n, agent_id, first_at - n * ${span}, last_at - n * ${span}, events, agent, folder,
       title, tool_calls, blocked, rewritten, asked, hook_ms from sessions, ${numbers}`,
    `insert into decision_minutes (tenant_id, minute, allow, rewrite, ask, block, opened, failed, ${histogram})
     select tenant_id, ${minutes}, allow, rewrite, ask, block, opened, failed, ${histogram}
     from decision_minutes, ${numbers} where true on conflict do nothing`,
    `insert into decision_hours (tenant_id, minute, allow, rewrite, ask, block, opened, failed, ${histogram})
     select tenant_id, ${hours('minute')}, allow, rewrite, ask, block, opened, failed, ${histogram}
     from decision_hours, ${numbers} where true on conflict do nothing`,
    `insert into event_hours (tenant_id, hour, event, agent_id, tool, kind, by_hook, rewritten, opened, failed, agent,
       hook_name, events)
     select tenant_id, ${hours('hour')}, event, agent_id, tool, kind, by_hook, rewritten, opened, failed, agent, hook_name,
       events from event_hours, ${numbers} where true on conflict do nothing`,
    `insert into hook_hours (tenant_id, hour, hook_id, hook_name, matched, block, ask, rewrite, failed, last_at, ${histogram})
     select tenant_id, ${hours('hour')}, hook_id, hook_name, matched, block, ask, rewrite, failed, last_at, ${histogram}
     from hook_hours, ${numbers} where true on conflict do nothing`,
  ]
}

const tools = [
  'Bash',
  'Read',
  'Edit',
  'Write',
  'Grep',
  'Glob',
  'WebFetch',
  'Task',
  'mcp__db__query',
  'TodoWrite',
]

/** A mixture as agents send it: twenty hooks, eight agents, ten tools, a block in fifty calls. */
function sample(tenant: string, index: number, time: number): EventRecord {
  const event_id = randomUUID()
  const kind = index % 50 === 0 ? 'block' : index % 211 === 0 ? 'ask' : 'allow'
  const tool = tools[index % tools.length] ?? 'Bash'
  const command = `git log --oneline -n ${index} && npm run build -- --filter=packages/app-${index % 97}`
  const payload = { tool_name: tool, tool_input: { command } }
  const hook = `hook-${index % 20}`
  return {
    tenant,
    event_id,
    event: index % 2 === 0 ? 'pre_tool_use' : 'post_tool_use',
    time,
    session_id: `s${Math.floor(index / 100)}`,
    agent_id: `a${index % 8}`,
    kind,
    by_hook: kind === 'allow' ? null : hook,
    code: null,
    duration_ms: (index % 400) / 10,
    request: JSON.stringify({ event: 'pre_tool_use', payload, envelope: {} }),
    answer: '{"decision":{"kind":"allow"}}',
    summary: {
      agent: `agent-${index % 8}`,
      folder: `/home/ada/work/project-${index % 30}`,
      tool,
      what: command,
      ...(kind === 'allow'
        ? {}
        : { by_hook: hook, hook_name: `Guard ${index % 20}`, reason: 'not like this' }),
      ...(index % 40 === 1 ? { rewritten: true as const } : {}),
      ...(index % 300 === 2 ? { failed: 1, opened: 'on_error: allow' } : {}),
    },
    executions: [
      {
        hook_id: hook,
        handler_type: 'http',
        decision: kind,
        duration_ms: (index % 400) / 10,
        retry: 0,
        dedup_key: `${hook}:${event_id}`,
        code: null,
        error: null,
        error_detail: null,
        shadow: false,
        metadata: {},
        tally: { hook_name: `Guard ${index % 20}` },
      },
    ],
  }
}
