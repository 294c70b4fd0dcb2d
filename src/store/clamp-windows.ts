/** Windows that began while the clock was ahead: without a limit they would last until the clock is there again. */
import { sql } from 'kysely'
import { inSystemAt, timed } from '../database/operation.ts'
import type { Table, Window } from '../database/table.ts'
import type { LongestWindows } from '../history/audit-tables.ts'
import { tables } from './tables.ts'

export const windowOperations = {
  /**
   * Shortens windows that end later than their length allows, because the clock was ahead when they began: leases, retries,
   * kept answers, guards and what else tables declare. Returns how many.
   */
  clampWindows: inSystemAt(async (tx, longest: LongestWindows) => {
    const now = await tx.time()
    let count = 0
    for (const { name, windows = [] } of tables as readonly Table[])
      for (const window of windows) {
        const { numAffectedRows } = await shorten(name, window, now, longest).execute(tx.trx)
        count += Number(numAffectedRows ?? 0)
      }
    return count
  }, timed),
}

/** A window that keeps its own length moves its begin to now; any other ends after its longest length. */
function shorten(
  table: string,
  { ends, began, within = 0, where = 'true' }: Window,
  now: number,
  longest: LongestWindows,
) {
  const [end, and] = [sql.ref(ends), sql`and ${sql.raw(where)}`]
  if (began !== undefined)
    return sql`update ${sql.table(table)} set ${end} = ${now} + ${end} - ${sql.ref(began)}, ${sql.ref(began)} = ${now}
      where ${sql.ref(began)} > ${now} ${and}`
  const latest =
    typeof within === 'object'
      ? sql`${now} + ${sql.raw(within.sql)}`
      : sql`${now + (typeof within === 'number' ? within : longest[within])}`
  return sql`update ${sql.table(table)} set ${end} = ${latest} where ${end} > ${latest} ${and}`
}
