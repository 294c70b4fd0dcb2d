import type { HookStore } from '../stores/hook-store.ts'
import type { Pool } from './pool.ts'
import { badCursor, isSnapshot } from './snapshot.ts'

/** What the snapshot of the cursor could not see and this statement can: nothing is missed, and nothing told twice. */
const CHANGES = `select tenant_id as tenant, version, now.cursor
  from (select pg_current_snapshot()::text as cursor) now left join definition_versions
    on stamp >= pg_snapshot_xmin($1::pg_snapshot)::text::bigint
    and not pg_visible_in_snapshot(stamp::text::xid8, $1::pg_snapshot)`

export function definitionChanges(pool: Pool): HookStore['definitionChanges'] {
  return async (cursor) => {
    if (cursor !== undefined && !isSnapshot(cursor)) throw badCursor()
    if (cursor === undefined) {
      const { rows } = await pool.query({ text: 'select pg_current_snapshot()::text as cursor' })
      return { cursor: rows[0].cursor, changed: [] }
    }
    const { rows } = await pool.query({ text: CHANGES, values: [cursor] })
    const changed = rows.filter((row) => row.tenant !== null)
    return { cursor: rows[0].cursor, changed: changed.map(({ tenant, version }) => ({ tenant, version })) }
  }
}
