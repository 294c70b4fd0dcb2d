import { sql } from 'kysely'
import type { ColumnTypes } from '../migrations/step.ts'
import type { Codec } from '../sql/database.ts'
import { writeJson } from './stored-text.ts'

export const columnTypes: ColumnTypes = {
  id: 'uuid',
  // Of agents, which may have a name where they have no id.
  ids: 'text[]',
  number: 'bigint',
  real: 'double precision',
  json: 'jsonb',
  bytes: 'bytea',
  flag: 'boolean',
  true: 'true',
  keyed: '',
  position: 'bigint generated always as identity primary key',
}

export const codec: Codec = {
  json: writeJson,
  // Read where it arrives, by the type of its column.
  readJson: (stored) => stored,
  flag: (value) => value,
  list: (ids) => ids,
  readList: (stored) => (Array.isArray(stored) ? stored.map(String) : []),
  aside: (column) => sql.ref(column),
  stamp: sql<number>`pg_current_xact_id()::text::bigint`,
  horizon: sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
}
