import type { DatabaseSync } from 'node:sqlite'
import type { GuardRequest, Pass } from '../../../engine/core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from '../../../engine/guard/guard-entry.ts'
import { number } from './read.ts'
import { transactions } from './transaction.ts'

/** The rules of `memoryGuardState` over a table. */
export function guardsByHand(database: DatabaseSync) {
  const transaction = transactions(database)
  const select = database.prepare('select until, count from guard_state where tenant_id = ? and key = ?')
  const upsert = database.prepare(
    `insert into guard_state (tenant_id, key, until, count) values (?, ?, ?, ?)
     on conflict (tenant_id, key) do update set until = excluded.until, count = excluded.count`,
  )
  const remove = database.prepare('delete from guard_state where tenant_id = ? and key = ?')

  const find = (tenant: string, key: string): GuardEntry | undefined => {
    const row = select.get(tenant, key)
    return row && { until: number(row.until), count: number(row.count) }
  }
  const arm = (tenant: string, request: GuardRequest, now: number) => {
    const key = entryKey(request)
    const armed = armEntry(request, find(tenant, key), now)
    if (armed === undefined) remove.run(tenant, key)
    else upsert.run(tenant, key, armed.until, armed.count)
  }
  return (tenant: string, requests: readonly GuardRequest[], now: number): readonly Pass[] =>
    transaction(() => {
      const passes = requests.map((request) => checkEntry(request, find(tenant, entryKey(request)), now))
      if (passes.every((pass) => pass.pass)) for (const request of requests) arm(tenant, request, now)
      return passes
    })
}
