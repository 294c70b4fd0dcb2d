import { sql } from 'kysely'
import { inTenant, inTenantAt, operation, type Tx, timed } from '../../database/operation.ts'
import { find, insert, type PageRequest, page, readRows, update } from '../../database/rows.ts'
import type { WholeRowOf } from '../../database/table.ts'
import { insertDelivery } from '../../deliveries/delivery-operations.ts'
import { armingGuards, type HeldGuards, holdGuards } from '../../stored-hooks/guards/guard-windows.ts'
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

export const firingOperations = {
  /**
   * Checks and arms the cooldown of the rule and the dedup windows of its actions, and stores the firing with its delivery,
   * in one transaction. A firing that exists is returned as it is, so that a repeated call fires nothing.
   */
  fireRule: operation(timed, (call, firing: NewFiring, now?: number) =>
    armingGuards(call, firing.tenant_id, now, (tx) => fireRule(tx, firing)),
  ),

  /** How long cooldowns go on, by their keys. Keys without a window are absent. Arms nothing. */
  readWindows: inTenantAt(
    async (tx, tenant: string, given: readonly GuardWindow[]): Promise<Readonly<Record<string, number>>> => {
      const requests = given.filter(hasWindow)
      if (requests.length === 0) return {}
      const guards = await holdGuards(tx, tenant, requests)
      const left = requests.map((request) => [request.key, leftOf(guards, request)] as const)
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
  startAction: inTenantAt(async (tx, tenant: string, firing_id: string, position: number) => {
    const pending = { tenant_id: tenant, firing_id, position, status: 'pending' } as const
    const changes = { status: 'started', updated_at: tx.now() } as const
    return (await update(tx, ruleActions, pending, changes)).length > 0
  }),

  /** Stores how an action ended. False if its end is known already. */
  endAction: inTenantAt(async (tx, tenant: string, firing_id: string, { position, ...end }: ActionEnd) => {
    const key = { tenant_id: tenant, firing_id, position }
    const isOpen = [sql`status in ('pending', 'started')`]
    return (await update(tx, ruleActions, key, { ...end, updated_at: tx.now() }, isOpen)).length > 0
  }),
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

async function fireRule(tx: Tx, firing: NewFiring): Promise<FiringResult> {
  const { cooldown: ruleWindow, actions: given, delivery, ...row } = firing
  const { tenant_id, firing_id } = firing
  const key = { tenant_id, firing_id }
  const existing = await findFiring(tx, key)
  if (existing !== undefined) return { firing: existing }
  const cooldown: GuardWindow = { kind: 'cooldown', ...ruleWindow }
  const windows = [cooldown, ...given.map(({ dedup }): GuardWindow => ({ kind: 'dedup', ...dedup }))]
  const guards = await holdGuards(tx, tenant_id, windows.filter(hasWindow))
  const left = leftOf(guards, cooldown)
  if (left > 0) {
    // A window that was too long ends by itself only if its end is stored.
    await guards.store()
    return { left_ms: left }
  }
  if (hasWindow(cooldown)) guards.arm(cooldown)
  const taken = new Set<string>()
  const actions = given.map(({ action_id, action_type, enabled, dedup }, position) => {
    const window: GuardWindow = { kind: 'dedup', ...dedup }
    const open = taken.has(dedup.key) ? dedup.windowMs : leftOf(guards, window)
    if (open === 0) taken.add(dedup.key)
    if (open === 0 && hasWindow(window)) guards.arm(window)
    const reason = open > 0 ? `dedup window active for ${open}ms` : enabled ? null : 'action disabled'
    const status = reason === null ? ('pending' as const) : ('skipped' as const)
    const nothing = { detail: null, run_id: null, updated_at: guards.now }
    return { position, action_id, action_type, status, reason, ...nothing }
  })
  await guards.store()
  await insert(tx, ruleFirings, { ...row, created_at: guards.now })
  for (const action of actions) await insert(tx, ruleActions, { ...key, ...action })
  if (actions.some(({ status }) => status === 'pending')) await insertDelivery(tx, delivery, guards.now)
  // What a second call would find.
  return { firing: { ...row, created_at: guards.now, actions } }
}

function hasWindow({ windowMs }: GuardWindow): boolean {
  return windowMs > 0
}

function leftOf(guards: HeldGuards, window: GuardWindow): number {
  return hasWindow(window) ? Math.max(0, (guards.of(window)?.until ?? 0) - guards.now) : 0
}
