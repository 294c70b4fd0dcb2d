import { armEntry, entryKey, type GuardEntry } from '../../../engine/guard/guard-entry.ts'
import { ruleContentPath } from '../../paths.ts'
import {
  actionStatuses,
  type FiringAction,
  type FiringFilter,
  type FiringResult,
  type FiringRow,
  type GuardWindow,
  type NewFiring,
  type RuleStore,
} from '../../stores/rule-store.ts'
import { clampGuardEntry } from '../clamp-windows.ts'
import { readUnion } from '../column-values.ts'
import { pageFromRows, readTextCursor } from '../page-cursor.ts'
import type { CountSealed } from '../runs/run-queries.ts'
import { isUniqueViolation, type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import { insertDeliveries } from './mailbox-queries.ts'
import { openContent, sealContent } from './sealed-content.ts'

type FiringQueries = Pick<
  RuleStore,
  'fireRule' | 'readWindows' | 'findFiring' | 'listFirings' | 'startAction' | 'endAction'
>

/** Each failed attempt means that another node armed a window that was free when we looked. */
const ATTEMPTS = 20

export function firingQueries(db: SqlDatabase, countSealed: CountSealed): FiringQueries {
  return {
    async fireRule(firing, given) {
      for (let attempt = 1; ; attempt++) {
        try {
          const result = await db.tenant(firing.tenant_id, (trx) => fireRule(db, trx, { firing, given }))
          if ('firing' in result) await countSealed(2)
          return result
        } catch (thrown) {
          if (attempt === ATTEMPTS || !isUniqueViolation(thrown)) throw thrown
        }
      }
    },

    readWindows: (tenant, requests, given) =>
      db.tenant(tenant, async (trx) => {
        if (requests.length === 0) return {}
        const now = await readNow(trx, db, given)
        const windows = await lockWindows(db, trx, { tenant, requests, now })
        const left = requests.map((request) => [request.key, windows.left(request)] as const)
        return Object.fromEntries(left.filter(([, ms]) => ms > 0))
      }),

    findFiring: (tenant, firingId) => db.tenant(tenant, (trx) => findFiring(db, trx, { tenant, firingId })),

    listFirings: (tenant, filter, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readTextCursor(cursor) : undefined
        const rows = await selectFirings(trx, tenant, filter)
          .$if(from !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple('created_at', 'firing_id'), '<', eb.tuple(from?.time ?? 0, from?.key ?? '')),
            ),
          )
          .orderBy('created_at', 'desc')
          .orderBy('firing_id', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.firing_id }))
        return { ...page, rows: await withActions(db, trx, { tenant, rows: page.rows }) }
      }),

    startAction: (tenant, firingId, position, now) =>
      db.tenant(tenant, async (trx) => {
        const started = await trx
          .updateTable('rule_actions')
          .set({ status: 'started', updated_at: db.codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('firing_id', '=', firingId)
          .where('position', '=', position)
          .where('status', '=', 'pending')
          .returning('position')
          .executeTakeFirst()
        return started !== undefined
      }),

    endAction: (tenant, firingId, { position, ...end }, now) =>
      db.tenant(tenant, async (trx) => {
        const ended = await trx
          .updateTable('rule_actions')
          .set({ ...end, updated_at: db.codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('firing_id', '=', firingId)
          .where('position', '=', position)
          .where('status', 'in', ['pending', 'started'])
          .returning('position')
          .executeTakeFirst()
        return ended !== undefined
      }),
  }
}

interface FiringKey {
  readonly tenant: string
  readonly firingId: string
}

async function findFiring(
  db: SqlDatabase,
  trx: QueryBuilder,
  { tenant, firingId }: FiringKey,
): Promise<FiringRow | undefined> {
  const row = await trx
    .selectFrom('rule_firings')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('firing_id', '=', firingId)
    .executeTakeFirst()
  return row && (await withActions(db, trx, { tenant, rows: [row] }))[0]
}

function selectFirings(trx: QueryBuilder, tenant: string, filter: FiringFilter) {
  const { rule_id, event_id, run_id, started_run_id } = filter
  return trx
    .selectFrom('rule_firings')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .$if(rule_id !== undefined, (query) => query.where('rule_id', '=', rule_id ?? ''))
    .$if(event_id !== undefined, (query) => query.where('event_id', '=', event_id ?? ''))
    .$if(run_id !== undefined, (query) => query.where('run_id', '=', run_id ?? ''))
    .$if(started_run_id !== undefined, (query) =>
      query.where('firing_id', 'in', (eb) =>
        eb
          .selectFrom('rule_actions')
          .select('firing_id')
          .where('tenant_id', '=', tenant)
          .where('run_id', '=', started_run_id ?? ''),
      ),
    )
}

async function withActions(
  { secrets }: SqlDatabase,
  trx: QueryBuilder,
  { tenant, rows }: { readonly tenant: string; readonly rows: readonly Tables['rule_firings'][] },
): Promise<readonly FiringRow[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.firing_id)
  const actions = await trx
    .selectFrom('rule_actions')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('firing_id', 'in', ids)
    .orderBy('position')
    .execute()
  const byFiring = Map.groupBy(actions, (action) => action.firing_id)
  return rows.map((row) => ({
    ...row,
    content: openContent(secrets, row.content, pathOf(row.tenant_id, row.firing_id)),
    actions: (byFiring.get(row.firing_id) ?? []).map(readAction),
  }))
}

function readAction({ tenant_id: _, firing_id, ...action }: Tables['rule_actions']): FiringAction {
  return { ...action, status: readUnion(actionStatuses, action.status) }
}

function pathOf(tenant: string, firingId: string) {
  return ruleContentPath('rule_firings', tenant, firingId)
}

async function fireRule(
  db: SqlDatabase,
  trx: QueryBuilder,
  { firing, given }: { readonly firing: NewFiring; readonly given: number | undefined },
): Promise<FiringResult> {
  const { tenant_id: tenant, firing_id: firingId } = firing
  const existing = await findFiring(db, trx, { tenant, firingId })
  if (existing !== undefined) return { firing: existing }
  const now = await readNow(trx, db, given)
  const requests = [
    windowOf('cooldown', firing.cooldown),
    ...firing.actions.map(({ dedup }) => windowOf('dedup', dedup)),
  ]
  const windows = await lockWindows(db, trx, { tenant, requests, now })
  await windows.shorten()
  const cooldown = windowOf('cooldown', firing.cooldown)
  const left = windows.left(cooldown)
  if (left > 0) return { left_ms: left }
  const armed = [cooldown]
  const actions = firing.actions.map(({ action_id, action_type, enabled, dedup }, position) => {
    const window = windowOf('dedup', dedup)
    const isTaken = armed.some((other) => other.kind === 'dedup' && other.key === window.key)
    const open = isTaken ? window.windowMs : windows.left(window)
    if (open === 0) armed.push(window)
    const reason = open > 0 ? `dedup window active for ${open}ms` : enabled ? null : 'action disabled'
    const status = reason === null ? 'pending' : 'skipped'
    const key = { tenant_id: tenant, firing_id: firingId, position }
    return { ...key, action_id, action_type, status, reason, detail: null, run_id: null, updated_at: now }
  })
  await windows.arm(armed)
  await insertFiring(db, trx, { firing, now })
  await trx.insertInto('rule_actions').values(actions).execute()
  if (actions.some(({ status }) => status === 'pending'))
    await insertDeliveries(db, trx, { deliveries: [firing.delivery], now })
  const stored = await findFiring(db, trx, { tenant, firingId })
  if (stored === undefined) throw new Error('a firing that was just inserted is there')
  return { firing: stored }
}

async function insertFiring(
  { secrets }: SqlDatabase,
  trx: QueryBuilder,
  { firing, now }: { readonly firing: NewFiring; readonly now: number },
): Promise<void> {
  const { cooldown: _, actions, delivery, content, ...row } = firing
  await trx
    .insertInto('rule_firings')
    .values({
      ...row,
      content: sealContent(secrets, content, pathOf(row.tenant_id, row.firing_id)),
      created_at: now,
    })
    .execute()
}

function windowOf(
  kind: GuardWindow['kind'],
  { key, windowMs }: { readonly key: string; readonly windowMs: number },
): GuardWindow {
  return { kind, key, windowMs }
}

interface WantedWindows {
  readonly tenant: string
  readonly requests: readonly GuardWindow[]
  readonly now: number
}

/** Reads and locks windows. Locks in the order of keys, so that two nodes cannot deadlock. */
async function lockWindows(db: SqlDatabase, trx: QueryBuilder, { tenant, requests, now }: WantedWindows) {
  const rows = await trx
    .selectFrom('guard_state')
    .select(['key', 'until', 'count'])
    .where('tenant_id', '=', tenant)
    .where('key', 'in', [...new Set(requests.map(entryKey))])
    .orderBy('key')
    .$if(db.dialect === 'postgres', (query) => query.forUpdate())
    .execute()
  const entries = new Map<string, GuardEntry>(rows.map(({ key, ...entry }) => [key, entry]))
  const update = (key: string, entry: GuardEntry) =>
    trx
      .updateTable('guard_state')
      .set({ ...entry })
      .where('tenant_id', '=', tenant)
      .where('key', '=', key)
  return {
    /** How long the window goes on; a window of 0 never does. */
    left(request: GuardWindow): number {
      const entry = entries.get(entryKey(request))
      if (entry === undefined || request.windowMs === 0) return 0
      return Math.max(0, clampGuardEntry(request, entry, now).until - now)
    },
    /** Stores the end of windows that are too long. Otherwise each look would find one whole window left. */
    async shorten(): Promise<void> {
      for (const request of requests) {
        const key = entryKey(request)
        const entry = entries.get(key)
        if (entry === undefined || request.windowMs === 0) continue
        const clamped = clampGuardEntry(request, entry, now)
        if (clamped === entry) continue
        entries.set(key, clamped)
        await update(key, clamped).execute()
      }
    },
    async arm(armed: readonly GuardWindow[]): Promise<void> {
      const wanted = new Map(
        armed.filter(({ windowMs }) => windowMs > 0).map((request) => [entryKey(request), request]),
      )
      for (const [key, request] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const entry = armEntry(request, undefined, now)
        if (entry === undefined) continue
        const insert = trx.insertInto('guard_state').values({ tenant_id: tenant, key, ...entry })
        await (entries.has(key) ? update(key, entry) : insert).execute()
      }
    },
  }
}
