import { sql } from 'kysely'
import type { MigrationKit } from '../migrations/step.ts'
import type { Codec } from '../sql/database.ts'

export const sqliteCodec: Codec = {
  json: (value) => JSON.stringify(value),
  readJson: (stored) => (typeof stored === 'string' ? JSON.parse(stored) : stored),
  flag: (value) => (value ? 1 : 0),
  list: (ids) => JSON.stringify(ids),
  readList(stored) {
    const list: unknown = typeof stored === 'string' ? JSON.parse(stored) : []
    return Array.isArray(list) ? list.map(String) : []
  },
  aside: (column) => sql`+${sql.ref(column)}`,
  // One process writes at a time, so counting is enough.
  stamp: sql`(select coalesce(max(stamp), 0) + 1 from definition_versions)`,
  horizon: sql`(select coalesce(max(stamp), 0) + 1 from definition_versions)`,
}

export const sqliteKit: MigrationKit = {
  types: {
    id: 'text',
    ids: 'text',
    number: 'integer',
    real: 'real',
    json: 'text',
    bytes: 'blob',
    flag: 'integer',
    true: '1',
    keyed: 'without rowid',
    position: 'integer primary key autoincrement',
  },
  secure: async () => {},
}
