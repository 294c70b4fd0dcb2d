import { sql } from 'kysely'
import { callAt, inTenantOf, type OperationCall, type Tx } from '../../database/operation.ts'
import { insert, removeRow, update } from '../../database/rows.ts'
import { isUniqueViolation } from '../../database/sql-database.ts'
import type { GuardRequest } from '../../engine/core/guard-state.ts'
import { DAY_MS } from '../../engine/guard/guard.ts'
import { armEntry, entryKey, type GuardEntry } from '../../engine/guard/guard-entry.ts'
import { guardState } from './guard-tables.ts'

/** Each failed attempt means that another node armed a guard that was free when we looked. */
const ATTEMPTS = 20

/** One transaction that arms guards of a tenant, repeated if another node was faster. */
export async function armingGuards<Result>(
  call: OperationCall,
  tenant: string,
  now: number | undefined,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTenantOf(callAt(call, now), tenant, work)
    } catch (thrown) {
      if (attempt === ATTEMPTS || !isUniqueViolation(thrown)) throw thrown
    }
  }
}

/** The entries of guards as this transaction finds and changes them. */
export interface HeldGuards {
  readonly now: number
  of(request: GuardRequest): GuardEntry | undefined
  arm(request: GuardRequest): void
  /** Writes what has changed, entries that were too long among it. */
  store(): Promise<void>
}

/** Reads and locks entries in the order of their keys, so that two nodes cannot deadlock. None lasts longer than its window from now. */
export async function holdGuards(
  tx: Tx,
  tenant_id: string,
  requests: readonly GuardRequest[],
): Promise<HeldGuards> {
  const keys = [...new Set(requests.map(entryKey))]
  const select = sql<GuardEntry & { key: string }>`select key, until, count from guard_state
    where tenant_id = ${tenant_id} and key in (${sql.join(keys)}) order by key
    ${tx.db.dialect === 'postgres' ? sql`for update` : sql``}`
  const [now, { rows }] = await Promise.all([tx.time(), select.execute(tx.trx)])
  const stored = new Map(rows.map(({ key, until, count }) => [key, { until, count }]))
  const held = new Map<string, GuardEntry | undefined>()
  for (const request of requests) {
    const key = entryKey(request)
    const entry = held.get(key) ?? stored.get(key)
    held.set(key, entry && clampGuardEntry(request, entry, now))
  }
  return {
    now,
    of: (request) => held.get(entryKey(request)),
    arm: (request) => void held.set(entryKey(request), armEntry(request, held.get(entryKey(request)), now)),
    async store() {
      for (const key of keys.toSorted()) {
        const [before, entry] = [stored.get(key), held.get(key)]
        if (entry === before) continue
        if (entry === undefined) await removeRow(tx, guardState, { tenant_id, key })
        else if (before === undefined) await insert(tx, guardState, { tenant_id, key, ...entry })
        else await update(tx, guardState, { tenant_id, key }, entry)
      }
    },
  }
}

/** The entry of a guard, with at most one whole window left. A budget has none: it never expires. */
function clampGuardEntry(request: GuardRequest, entry: GuardEntry, now: number): GuardEntry {
  if (request.kind === 'budget') return entry
  const latest = now + ('windowMs' in request ? request.windowMs : DAY_MS)
  return entry.until > latest ? { ...entry, until: latest } : entry
}
