import { sql } from 'kysely'
import { inTenant, inTenantOf, operation, type Tx, timed } from '../../database/operation.ts'
import { find, insert, type PageRequest, page, readRows, update } from '../../database/rows.ts'
import { isUniqueViolation } from '../../database/sql-database.ts'
import type { WholeRowOf } from '../../database/table.ts'
import { insertDelivery } from '../../deliveries/delivery-operations.ts'
import { armEntry, entryKey, type GuardEntry } from '../../engine/guard/guard-entry.ts'
import { clampGuardEntry } from '../../stored-hooks/guard-operations.ts'
import type { FiringFilter } from '../methods/rule-firing-methods.ts'
import {
  type ActionEnd,
  type FiringResult,
  type FiringRow,
  type GuardWindow,
  type NewFiring,
  ruleActions,
  ruleFirings,
} from './rule-tables.ts'

/** Each failed attempt means that another node armed a window that was free when we looked. */
const ATTEMPTS = 20

export const firingOperations = {
  /**
   * Checks and arms the cooldown of the rule and the dedup windows of its actions, and stores the firing with its delivery,
   * in one transaction. A firing that exists is returned as it is, so that a repeated call fires nothing.
   */
  fireRule: operation(timed, async (call, firing: NewFiring, now?: number): Promise<FiringResult> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTenantOf(call, firing, (tx) => fireRule(tx, firing, now))
      } catch (thrown) {
        if (attempt === ATTEMPTS || !isUniqueViolation(thrown)) throw thrown
      }
    }
  }),

  /** How long cooldowns go on, by their keys. Keys without a window are absent. Arms nothing. */
  readWindows: inTenant(
    async (
      tx,
      tenant: string,
      requests: readonly GuardWindow[],
      given?: number,
    ): Promise<Readonly<Record<string, number>>> => {
      if (requests.length === 0) return {}
      const windows = await lockWindows(tx, { tenant, requests, now: await tx.time(given) })
      const left = requests.map((request) => [request.key, windows.left(request)] as const)
      return Object.fromEntries(left.filter(([, ms]) => ms > 0))
    },
    timed,
  ),

  findFiring: inTenant((tx, tenant: string, firing_id: string) =>
    findFiring(tx, { tenant_id: tenant, firing_id }),
  ),

  /** Newest first. */
  listFirings: inTenant(
    async (tx, tenant: string, { started_run_id, ...filter }: FiringFilter, request: PageRequest) => {
      const started = sql`firing_id in (
        select firing_id from rule_actions where tenant_id = ${tenant} and run_id = ${started_run_id})`
      const found = await page(tx, ruleFirings, {
        ...request,
        match: { tenant_id: tenant, ...filter },
        and: started_run_id === undefined ? [] : [started],
        by: ['created_at', 'firing_id'],
      })
      return { ...found, rows: await withActions(tx, tenant, found.rows) }
    },
  ),

  /** Marks a pending action as started. False if it has begun already. */
  startAction: inTenant(async (tx, tenant: string, firing_id: string, position: number, now?: number) => {
    const pending = { tenant_id: tenant, firing_id, position, status: 'pending' } as const
    const changes = { status: 'started', updated_at: tx.now(now) } as const
    return (await update(tx, ruleActions, pending, changes)).length > 0
  }),

  /** Stores how an action ended. False if its end is known already. */
  endAction: inTenant(
    async (tx, tenant: string, firing_id: string, { position, ...end }: ActionEnd, now?: number) => {
      const key = { tenant_id: tenant, firing_id, position }
      const isOpen = [sql`status in ('pending', 'started')`]
      return (await update(tx, ruleActions, key, { ...end, updated_at: tx.now(now) }, isOpen)).length > 0
    },
  ),
}

type FiringKey = Pick<FiringRow, 'tenant_id' | 'firing_id'>

async function findFiring(tx: Tx, key: FiringKey): Promise<FiringRow | undefined> {
  const row = await find(tx, ruleFirings, key)
  return row && (await withActions(tx, key.tenant_id, [row]))[0]
}

async function withActions(
  tx: Tx,
  tenant: string,
  rows: readonly Omit<FiringRow, 'actions'>[],
): Promise<readonly FiringRow[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.firing_id)
  const { rows: stored } = await sql`select * from rule_actions
    where tenant_id = ${tenant} and firing_id in (${sql.join(ids)}) order by position`.execute(tx.trx)
  const actions = readRows<typeof ruleActions, WholeRowOf<typeof ruleActions>>(tx, ruleActions, stored)
  const byFiring = Map.groupBy(actions, (action) => action.firing_id)
  return rows.map((row) => ({
    ...row,
    actions: (byFiring.get(row.firing_id) ?? []).map(({ tenant_id: _, firing_id: __, ...action }) => action),
  }))
}

async function fireRule(tx: Tx, firing: NewFiring, given: number | undefined): Promise<FiringResult> {
  const { cooldown: ruleWindow, actions: given_actions, delivery, ...row } = firing
  const { tenant_id: tenant, firing_id } = firing
  const key = { tenant_id: tenant, firing_id }
  const existing = await findFiring(tx, key)
  if (existing !== undefined) return { firing: existing }
  const now = await tx.time(given)
  const cooldown = windowOf('cooldown', ruleWindow)
  const requests = [cooldown, ...given_actions.map(({ dedup }) => windowOf('dedup', dedup))]
  const windows = await lockWindows(tx, { tenant, requests, now })
  await windows.shorten()
  const left = windows.left(cooldown)
  if (left > 0) return { left_ms: left }
  const armed = [cooldown]
  const actions = given_actions.map(({ action_id, action_type, enabled, dedup }, position) => {
    const window = windowOf('dedup', dedup)
    const isTaken = armed.some((other) => other.kind === 'dedup' && other.key === window.key)
    const open = isTaken ? window.windowMs : windows.left(window)
    if (open === 0) armed.push(window)
    const reason = open > 0 ? `dedup window active for ${open}ms` : enabled ? null : 'action disabled'
    const status = reason === null ? ('pending' as const) : ('skipped' as const)
    return {
      position,
      action_id,
      action_type,
      status,
      reason,
      detail: null,
      run_id: null,
      updated_at: now,
    }
  })
  await windows.arm(armed)
  await insert(tx, ruleFirings, { ...row, created_at: now })
  for (const action of actions) await insert(tx, ruleActions, { ...key, ...action })
  if (actions.some(({ status }) => status === 'pending')) await insertDelivery(tx, delivery, now)
  // What a second call would find.
  return { firing: { ...row, created_at: now, actions } }
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
async function lockWindows({ db, trx }: Tx, { tenant, requests, now }: WantedWindows) {
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
