import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { demoTenants } from '../../src/access/demo-tenants.ts'
import type { GatewayOptions } from '../../src/app/gateway/open-gateway.ts'
import { freshDatabase } from '../postgres/database.ts'
import { as, hookhelm, tokenFor } from './doors.fixture.ts'
import { type Running, running } from './running.fixture.ts'

/** Reads every table past the gateway. */
interface RawDatabase {
  tables(): Promise<readonly string[]>
  rows(table: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

interface OpenedDemo {
  readonly gateway: Running
  readonly raw: RawDatabase
}

async function onSqlite(): Promise<OpenedDemo> {
  const gateway = await running()
  const read = (sql: string) => {
    const database = new DatabaseSync(join(gateway.home, 'hookhelm.db'), { readOnly: true, timeout: 60_000 })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }
  return {
    gateway,
    raw: {
      tables: async () =>
        read("select name from sqlite_master where type = 'table'").map((row) => String(row.name)),
      rows: async (table) => read(`select * from "${table}"`),
    },
  }
}

async function onPostgres(): Promise<OpenedDemo> {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  const options: GatewayOptions = {
    database: database.url,
    edition: 'standard',
    env: { HOOKHELM_ENCRYPTION_KEY: 'cd'.repeat(32) },
  }
  const names = `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  return {
    gateway: await running(options),
    raw: {
      tables: async () => (await database.query(names)).map(({ name }) => String(name)),
      rows: (table) => database.query(`select * from ${table}`),
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the method answers
type Call = (method: string, params?: object) => Promise<any>

/** Calls methods as the owner does who chose this tenant. */
function callerFor(gateway: Running, tenant?: string): Call {
  const headers = tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }
  return async (method, params = {}) => {
    const { status, body } = await gateway.call('POST', `/v1/call/${method}`, params, headers)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
}

const traces = [...Object.values(demoTenants).map(({ id }) => id), 'demo-', 'demo: ']

/** The tables that hold anything of the demo. */
async function tablesWithDemo({ tables, rows }: RawDatabase): Promise<readonly string[]> {
  const found = await Promise.all(
    (await tables()).map(async (table) => {
      const text = JSON.stringify(await rows(table))
      return traces.some((trace) => text.includes(trace)) ? [table.replace(/^.*\./, '')] : []
    }),
  )
  return found.flat().toSorted()
}

/** Without them the removal would prove nothing. */
const filledTables = [
  'agent_hooks',
  'decision_hours',
  'decision_minutes',
  'deliveries',
  'event_hours',
  'event_summaries',
  'events',
  'guard_state',
  'hook_executions',
  'hook_hours',
  'session_lanes',
  'sessions',
  'tenant_hook_budget',
  'tenants',
]

describe.each([
  ['SQLite', 'lite', onSqlite],
  ['PostgreSQL', 'standard', onPostgres],
] as const)('the demo on %s, %s edition', (_, edition, open) => {
  test('plays what every view shows, and is removed from every table', async () => {
    const { gateway, raw } = await open()
    const own = callerFor(gateway)
    const before = await own('audit.verify')
    expect(before.ok).toBe(true)
    expect(await own('demo.play')).toEqual({
      tenantId: demoTenants.main.id,
      tenant: 'demo',
      played: true,
    })
    const { tenants, demo, tenant: ownTenant } = await own('caller.get')
    expect(demo).toBe(false)
    const names = edition === 'lite' ? ['demo'] : ['demo', 'demo-partner']
    expect(tenants.filter((each: { demo: boolean }) => each.demo).map(nameOf)).toEqual(names)

    const call = callerFor(gateway, 'demo')
    expect(await call('caller.get')).toMatchObject({ demo: true, tenant_name: 'demo' })
    await expectSessions(call)
    await expectEvents(call)
    await expectHooks(call)
    await expectStatistics(call)
    const verified = await own('audit.verify')
    expect(verified.ok).toBe(true)
    await expectSeparation(gateway, edition)

    expect(await tablesWithDemo(raw)).toEqual(expect.arrayContaining(filledTables))
    expect(await own('demo.remove')).toEqual({ removed: true, defaultTenantId: ownTenant })
    // A page of the demo that is still open asks for the status, which would create a budget.
    const { status } = await gateway.call('GET', '/v1/status', undefined, { 'x-hookhelm-tenant': 'demo' })
    expect(status).toBe(404)
    // Other nodes learn of the deletion from this table, which has ids and numbers only.
    expect(await tablesWithDemo(raw)).toEqual(['definition_versions'])
    expect((await own('audit.verify')).ok).toBe(true)
    expect(await own('demo.remove')).toMatchObject({ removed: false })
  })

  test('is not doubled by playing it twice, also at the same time, and can be played again', async () => {
    const { gateway, raw } = await open()
    const own = callerFor(gateway)
    const answers = await Promise.all([own('demo.play'), own('demo.play')])
    expect(answers.map(({ played }) => played).toSorted()).toEqual([false, true])
    const call = callerFor(gateway, 'demo')
    const { total } = await call('stats.facets')
    await own('demo.play')
    expect(await call('stats.facets')).toMatchObject({ total })
    // An event whose record is not written yet goes too.
    const late = { event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: { command: 'ls' } } }
    await gateway.call('POST', '/v1/dispatch', late, { 'x-hookhelm-tenant': 'demo' })
    await own('demo.remove')
    expect(await tablesWithDemo(raw)).toEqual(['definition_versions'])
    expect(await own('demo.play')).toMatchObject({ played: true })
    expect(await callerFor(gateway, demoTenants.main.id)('stats.facets')).toMatchObject({ total })
    expect((await own('audit.verify')).ok).toBe(true)
  })
})

function nameOf({ name }: { readonly name: string }): string {
  return name
}

async function expectSessions(call: Call): Promise<void> {
  const { sessions } = await call('sessions.list')
  expect(sessions).toMatchObject([
    { session_id: 'demo-gemini-infra', agent: 'gemini-cli', project: 'infra', asked: 2, ended: false },
    { session_id: 'demo-claude-shop-api', agent: 'claude-code', project: 'shop-api', sub_agents: 1 },
    { session_id: 'demo-codex-billing', agent: 'codex', project: 'billing', ended: true },
  ])
  for (const session of sessions) expect(session.blocked).toBeGreaterThan(0)
  const { events } = await call('sessions.timeline', { sessionId: 'demo-claude-shop-api', limit: 200 })
  const kinds = events.map(({ event }: { event: string }) => event)
  for (const event of [
    'user_prompt_submit',
    'subagent_start',
    'subagent_stop',
    'pre_compact',
    'post_compact',
  ])
    expect(kinds).toContain(event)
  const lanes = events.filter(({ moment }: { moment: { lane?: string } }) => moment.lane === 'demo-explorer')
  expect(lanes.length).toBeGreaterThan(4)
  const times = events.map(({ created_at }: { created_at: number }) => created_at)
  expect(times).toEqual(times.toSorted((a: number, b: number) => a - b))
}

async function expectEvents(call: Call): Promise<void> {
  const list = async (filter: object) => (await call('events.list', { limit: 200, ...filter })).events
  const found = async (filter: object, wanted: object) =>
    expect(await list(filter)).toContainEqual(expect.objectContaining(wanted))
  await found(
    { kind: 'block' },
    {
      agent: 'claude-code',
      project: 'shop-api',
      what: 'git push --force origin fix-cart',
      hook_name: 'demo: no forced pushes',
    },
  )
  await found({ kind: 'block' }, { hook_name: 'demo: no recursive deletes', lane: 'demo-explorer' })
  await found({ kind: 'block' }, { hook_name: 'demo: secrets stay unread' })
  await found({ kind: 'ask' }, { what: 'terraform apply', hook_name: 'demo: ask before production' })
  await found({ rewritten: true }, { hook_name: 'demo: publish as a dry run' })
  await found({ opened: true }, { what: 'npm install decimal.js' })
  const shadowed = (await list({})).filter(({ shadow }: { shadow: number }) => shadow > 0)
  expect(shadowed.length).toBe(2)
  const [blocked] = await list({ kind: 'block' })
  const { trace } = await call('events.explain', { eventId: blocked.event_id })
  expect(trace.hooks.length).toBeGreaterThan(5)
  const [published] = await list({ event: 'post_tool_use', text: 'npm publish' })
  expect(published.what).toBe('npm publish --dry-run')
}

async function expectHooks(call: Call): Promise<void> {
  const { hooks } = await call('hooks.list', { scope: 'tenant' })
  expect(hooks.length).toBe(12)
  for (const { name } of hooks) expect(name).toMatch(/^demo: /)
  const effective = await call('hooks.effective', { event: 'pre_tool_use', agent: 'claude-code' })
  expect(effective).toMatchObject({ problem: '', files: [] })
  const own = effective.hooks.filter(({ name }: { name?: string }) => name?.startsWith('demo: '))
  expect(own.length).toBe(8)
  expect(own[0].name).toBe('demo: no forced pushes')
  const status = await call('status')
  expect(status.hooks).toMatchObject({
    tripped: [{ name: 'demo: lint every edit', event: 'post_tool_use' }],
    shadow: [{ name: 'demo: no downloads (on trial)' }],
  })
  const { executions } = await call('hooks.history', { hookId: status.hooks.tripped[0].hookId, limit: 50 })
  const decisions = executions.map(({ decision }: { decision: string }) => decision)
  expect(decisions.filter((decision: string) => decision === 'error').length).toBe(5)
  expect(decisions).toContain('skipped')
  const reminder = hooks.find(({ name }: { name: string }) => name === 'demo: remind of the tests')
  const reminded = await call('hooks.history', { hookId: reminder.id, decision: 'skipped' })
  expect(reminded.executions[0].error).toMatch(/cooldown/)
  const report = hooks.find(({ name }: { name: string }) => name === 'demo: session report')
  expect((await call('hooks.history', { hookId: report.id })).executions.length).toBe(2)
  await expect
    .poll(async () => (await call('deliveries.list')).deliveries)
    .toMatchObject([{ kind: 'hook', state: 'dead', last_error: 'the hook was deleted' }])
  expect((await call('status')).deadDeliveries).toEqual({ count: 1, more: false })
}

async function expectStatistics(call: Call): Promise<void> {
  const { buckets } = await call('stats.decisions', {})
  const busy = buckets.filter(({ allow, block }: { allow: number; block: number }) => allow + block > 0)
  expect(busy.length).toBeGreaterThan(20)
  for (const kind of ['allow', 'block', 'ask', 'rewrite', 'opened', 'failed'])
    expect([kind, busy.some((bucket: Record<string, number>) => (bucket[kind] ?? 0) > 0)]).toEqual([
      kind,
      true,
    ])
}

/** Neither the own tenant nor the other one of the demo has any of it. */
async function expectSeparation(gateway: Running, edition: 'lite' | 'standard'): Promise<void> {
  const own = callerFor(gateway)
  expect((await own('events.list')).events).toEqual([])
  expect((await own('hooks.list', { scope: 'tenant' })).hooks).toEqual([])
  if (edition === 'lite') return
  const partner = callerFor(gateway, 'demo-partner')
  expect((await partner('sessions.list')).sessions).toMatchObject([
    { session_id: 'demo-partner-codex', project: 'partner-portal', blocked: 1, asked: 1 },
  ])
}

describe('the demo and everything else', () => {
  test('counts for no edition: a lite gateway starts with it, and keeps its tenant', async () => {
    const first = await running()
    const { tenant } = await callerFor(first)('caller.get')
    await callerFor(first)('demo.play')
    await first.close()
    const second = await running({ home: first.home })
    expect(await callerFor(second)('caller.get')).toMatchObject({ tenant, demo: false })
    const { body } = await second.call('POST', '/v1/tenants', { name: 'another' })
    expect(body.error).toMatchObject({ message: 'a second tenant needs the standard edition' })
    expect(await callerFor(second)('demo.remove')).toMatchObject({ removed: true })
  })

  test('the hook files of the user stay out of it', async () => {
    const gateway = await running()
    const file = join(gateway.home, 'hooks.yaml')
    const marker = join(gateway.home, 'started')
    const command = `touch ${marker}`
    writeFileSync(
      file,
      `hooks:\n  - { id: mine, event: pre_tool_use, handler_type: command, config: { command: ${JSON.stringify(command)} } }\n`,
    )
    await callerFor(gateway)('demo.play')
    const inForce = async (tenant?: string) =>
      JSON.stringify(await callerFor(gateway, tenant)('hooks.effective', { event: 'pre_tool_use' }))
    expect(await inForce()).toContain('mine')
    expect(await inForce('demo')).not.toContain('mine')
    const { lines } = await callerFor(gateway, 'demo')('status')
    expect(lines).toContainEqual({ name: 'hook files', state: 'ok', text: 'not used in the demo' })
    expect(() => readFileSync(marker)).toThrow(/ENOENT/)
  })

  test('a tenant that a person named demo is left alone', async () => {
    const gateway = await running({ edition: 'standard' })
    const { body } = await gateway.call('POST', '/v1/tenants', { name: 'demo' })
    await expect(callerFor(gateway)('demo.play')).rejects.toThrow('there is already a tenant named demo')
    expect(await callerFor(gateway)('demo.remove')).toMatchObject({ removed: false })
    expect((await gateway.call('GET', `/v1/tenants/${body.tenantId}`)).status).toBe(200)
  })

  test('only the master scope plays and removes it', async () => {
    const gateway = await running()
    const { token } = await tokenFor(gateway, { role: 'owner' })
    for (const verb of ['POST', 'DELETE']) {
      const { status, body } = await gateway.call(
        verb,
        '/v1/demo',
        verb === 'POST' ? {} : undefined,
        as(token),
      )
      expect([status, body.error.details.code]).toEqual([403, 'auth.scope'])
    }
  })
})

test('hookhelm demo plays it, and hookhelm demo --remove removes it', async () => {
  const gateway = await running()
  const played = await hookhelm(gateway, ['demo'])
  expect(played).toMatchObject({ code: 0, stderr: '' })
  expect(played.stdout).toContain('--tenant demo')
  expect((await hookhelm(gateway, ['demo'])).stdout).toContain('already')
  const listed = await hookhelm(gateway, ['events', 'list', '--tenant', 'demo', '--kind', 'block'])
  expect(listed.stdout).toContain('demo: no forced pushes')
  const removed = await hookhelm(gateway, ['demo', '--remove', '--json'])
  expect(JSON.parse(removed.stdout)).toMatchObject({ removed: true })
  expect((await hookhelm(gateway, ['demo', '--remove'])).stdout).toContain('There is no demo')
})
