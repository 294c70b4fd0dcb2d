import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { EventRecord } from '../../src/history/audit-tables.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Figure } from '../figure.ts'

const ROWS = 1_000_000
const HOOKS = 25
const HOUR_MS = 3_600_000
const STARTS = 3
const KEY = 'ab'.repeat(32)

const root = fileURLToPath(new URL('../..', import.meta.url))
/** As it is installed, where `npm run build` has seen the newest source; compiling at every start takes its time too. */
const isBuilt = newest(join(root, 'dist'), 'main.js') > newest(join(root, 'src'), '.ts')
const cli = join(root, isBuilt ? 'dist/cli/main.js' : 'src/cli/main.ts')
const how = isBuilt ? 'compiled' : 'from source, which takes longer: npm run build'

function newest(folder: string, ending: string): number {
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  const times = files
    .filter((name) => name.endsWith(ending))
    .map((name) => statSync(join(folder, name)).mtimeMs)
  return Math.max(0, ...times)
}

interface Up {
  readonly child: ChildProcess
  readonly readyMs: number
  call(verb: string, path: string, body?: unknown): Promise<{ status: number; body: Fields }>
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the route answers
type Fields = any

/** As a person starts it, until it says where it listens. */
async function up(home: string): Promise<Up> {
  const began = performance.now()
  const args = ['--disable-warning=ExperimentalWarning', cli, 'up', '--port', '0', '--json', '--quiet']
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home, HOOKHELM_ENCRYPTION_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const said = await firstObject(child.stdout)
  const readyMs = performance.now() - began
  const { url, tokenFile }: { url: string; tokenFile: string } = JSON.parse(said)
  const token = readFileSync(tokenFile, 'utf8').trim()
  return {
    child,
    readyMs,
    async call(verb, path, body) {
      const response = await fetch(`${url}${path}`, {
        method: verb,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
  }
}

async function firstObject(output: Readable): Promise<string> {
  let text = ''
  for await (const line of createInterface(output)) {
    text += line
    if (line === '}') return text
  }
  throw new Error('the gateway did not start')
}

async function end({ child }: Up, signal: NodeJS.Signals): Promise<number> {
  const began = performance.now()
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
  return performance.now() - began
}

/** Times of a gateway's life: starting, dying, coming back, ending, and being asked about a long past. */
export async function lifeFigures(): Promise<Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'hookhelm-life-'))
  try {
    const { startMs, idleMb } = await young(join(scratch, 'young'))
    const endMs = await busy(join(scratch, 'busy'))
    const { againMs, page, writtenMs } = await old(join(scratch, 'old'))
    const rows = `${(ROWS / 1e6).toFixed(0)} M rows, written in ${(writtenMs / 1_000).toFixed(0)} s`
    return [
      { ...figure('gateway, start to ready', startMs, 1_000), detail: how },
      { ...figure('gateway, ready again after kill -9 with 1 M rows', againMs, 2_000), detail: rows },
      { name: 'gateway, idle memory', value: idleMb, unit: 'MB', goal: 150, better: 'at most' },
      figure('gateway, SIGTERM to exit with work in flight', endMs, 5_000),
      { ...figure('history page on 1 M rows, worst filter', page.ms, 150), detail: page.filter },
    ]
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function figure(name: string, value: number, goal: number): Figure {
  return { name, value, unit: 'ms', goal, better: 'at most' }
}

async function young(home: string): Promise<{ startMs: number; idleMb: number }> {
  let [startMs, idleMb] = [Number.POSITIVE_INFINITY, 0]
  for (let start = 0; start < STARTS; start++) {
    const gateway = await up(home)
    startMs = Math.min(startMs, gateway.readyMs)
    if (start === STARTS - 1) {
      await sleep(2_000)
      const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8')) ?? []
      idleMb = Number(kb) / 1_024
    }
    await end(gateway, 'SIGTERM')
  }
  return { startMs, idleMb }
}

/** Gates that wait for slow commands, and events that wait to be delivered. */
async function busy(home: string): Promise<number> {
  const gateway = await up(home)
  const slow = { handler_type: 'command', scope: 'tenant', config: { command: 'sleep 2' } }
  for (const event of ['pre_tool_use', 'session_end'])
    await gateway.call('POST', '/v1/hooks', { ...slow, event })
  const payload = { tool_name: 'Bash', tool_input: {} }
  const asked = Array.from({ length: 8 }, () =>
    gateway.call('POST', '/v1/dispatch', { event: 'pre_tool_use', payload }).catch(() => undefined),
  )
  for (let index = 0; index < 8; index++)
    await gateway.call('POST', '/v1/dispatch', { event: 'session_end', payload: { reason: 'exit' } })
  await sleep(200)
  const ms = await end(gateway, 'SIGTERM')
  await Promise.all(asked)
  return ms
}

interface Old {
  readonly againMs: number
  readonly writtenMs: number
  readonly page: { readonly ms: number; readonly filter: string }
}

async function old(home: string): Promise<Old> {
  const first = await up(home)
  const hooks: string[] = []
  for (let index = 0; index < HOOKS; index++) {
    const hook = {
      event: 'pre_tool_use',
      handler_type: 'command',
      scope: 'tenant',
      config: { command: 'true' },
    }
    hooks.push((await first.call('POST', '/v1/hooks', { ...hook, enabled: false })).body.hookId)
  }
  const { tenant } = (await first.call('GET', '/v1/status')).body
  await end(first, 'SIGTERM')
  const writtenMs = await fill(join(home, 'hookhelm.db'), tenant, hooks)

  const loaded = await up(home)
  const payload = { tool_name: 'Bash', tool_input: {} }
  for (let index = 0; index < 200; index++)
    await loaded.call('POST', '/v1/dispatch', { event: 'pre_tool_use', payload })
  await end(loaded, 'SIGKILL')
  const again = await up(home)
  const page = await slowestPage(again, hooks[7] ?? '')
  await end(again, 'SIGTERM')
  return { againMs: again.readyMs, writtenMs, page }
}

/** One event through the store shows what a row looks like, and SQL makes a million of it. */
async function fill(file: string, tenant: string, hooks: readonly string[]): Promise<number> {
  const began = performance.now()
  const store = await openSqliteStore({ file, keyring: { current: { id: 'main', key: KEY } } })
  await store.recordEvents([eventOf(tenant, hooks)], [], [])
  // Waits until it is in rows.
  await store.verifyAudit()
  await store.close()
  const database = new DatabaseSync(file)
  // Nobody mourns for this file.
  database.exec('pragma synchronous = off; pragma cache_size = -400000')
  const indexes = database
    .prepare(
      `select name, sql from sqlite_master where type = 'index' and tbl_name = 'hook_executions' and sql <> ''`,
    )
    .all()
  for (const { name } of indexes) database.exec(`drop index ${String(name)}`)
  multiply(database, 'events', ROWS / hooks.length, {
    event_id: EVENT_ID,
    created_at: 't.created_at - n * 2',
  })
  multiply(database, 'hook_executions', ROWS / hooks.length, {
    position: 'null',
    id: `printf('%08x-0000-7000-8000-%012x', n, t.position)`,
    event_id: EVENT_ID,
    dedup_key: `t.hook_id || ':' || ${EVENT_ID}`,
    event: `iif(n % 10 = 0, 'post_tool_use', 'pre_tool_use')`,
    session_id: `'session ' || (n % 500)`,
    // Few of a kind, and the rarest at the far end: the worst for a page.
    decision: `iif(n = ${ROWS / hooks.length - 7}, 'ask', iif(n % 1000 = 3, 'error', 'allow'))`,
    shadow: `n > ${ROWS / hooks.length - 20}`,
    created_at: 't.created_at - n * 2',
    chain: `'of the bench'`,
    seq: `n * ${hooks.length} + t.seq`,
  })
  for (const { sql } of indexes) database.exec(String(sql))
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  return performance.now() - began
}

const EVENT_ID = `printf('%08x-0000-7000-9000-000000000000', n)`

/** Each row that is there, so many times, with some columns changed: `t` is the row, `n` which copy it is. */
function multiply(
  database: DatabaseSync,
  table: string,
  times: number,
  changed: Readonly<Record<string, string>>,
): void {
  const columns = database.prepare(`select name from pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => String(name))
  database.exec(
    `insert into ${table} (${names.join(', ')})
     with recursive copies (n) as (select 1 union all select n + 1 from copies where n < ${times})
     select ${names.map((name) => changed[name] ?? `t.${name}`).join(', ')} from copies, (select * from ${table}) t`,
  )
}

function eventOf(tenant: string, hooks: readonly string[]): EventRecord {
  const event_id = randomUUID()
  return {
    tenant,
    event_id,
    event: 'pre_tool_use',
    time: Date.now() - HOUR_MS,
    session_id: 'session',
    agent_id: null,
    kind: 'allow',
    by_hook: null,
    code: null,
    duration_ms: 1.5,
    request: '{"event":"pre_tool_use","payload":{"tool_name":"Bash","tool_input":{}}}',
    answer: '{"decision":{"kind":"allow"}}',
    executions: hooks.map((hook_id) => ({
      hook_id,
      handler_type: 'command',
      decision: 'allow',
      duration_ms: 0.25,
      retry: 0,
      dedup_key: `${hook_id}:${event_id}`,
      code: null,
      error: null,
      error_detail: null,
      shadow: false,
      metadata: { matcher_matched: true, trace_id: event_id },
    })),
  }
}

async function slowestPage(gateway: Up, hook: string): Promise<Old['page']> {
  const middle = Date.now() - HOUR_MS - ROWS / HOOKS
  const filters = [
    '',
    `hookId=${hook}`,
    'event=post_tool_use',
    'decision=error',
    'decision=ask',
    'decision=timeout',
    'sessionId=session%207',
    'sessionId=nobody',
    'agentId=nobody',
    'shadow=true',
    `until=${middle}`,
    `since=${middle}&until=${middle + 1_000}`,
    `hookId=${hook}&decision=ask`,
    `hookId=${hook}&event=post_tool_use&decision=error`,
    'event=post_tool_use&shadow=true',
  ]
  // What was recorded last is put into rows before the first page.
  await gateway.call('GET', '/v1/executions?limit=1')
  let worst = { ms: 0, filter: '' }
  for (const filter of filters) {
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 3; round++) {
      const began = performance.now()
      const { status } = await gateway.call('GET', `/v1/executions?limit=50&${filter}`)
      if (status !== 200) throw new Error(`history answered ${status} to ${filter}`)
      best = Math.min(best, performance.now() - began)
    }
    if (best > worst.ms) worst = { ms: best, filter: filter.replace(hook, '…') || 'none' }
  }
  return worst
}
