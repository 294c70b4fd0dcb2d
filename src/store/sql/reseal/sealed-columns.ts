import { sql } from 'kysely'
import { isUuid } from '../uuid.ts'

/** A column that holds sealed texts. With `name` its rows are found by tenant and name, else by id. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly id: string
  readonly name?: string
}

/** All of them but the configs of hooks, whose texts lie deeper. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'secrets', id: 'tenant_id', name: 'name', column: 'sealed' },
  { table: 'providers', id: 'tenant_id', name: 'name', column: 'sealed_key' },
  { table: 'audit_chains', id: 'chain', column: 'sealed_key' },
  { table: 'events', id: 'tenant_id', name: 'event_id', column: 'request' },
  { table: 'events', id: 'tenant_id', name: 'event_id', column: 'answer' },
  { table: 'idempotency', id: 'tenant_id', name: 'key', column: 'answer' },
  { table: 'deliveries', id: 'id', column: 'payload' },
  { table: 'hook_executions', id: 'id', column: 'error_detail' },
]

/** The values of the key columns that the row of a cell names; undefined when it names none. */
export function keyOf({ name }: SealedColumn, row: string): readonly string[] | undefined {
  const id = name === undefined ? row : row.slice(0, 36)
  if (!isUuid(id)) return undefined
  return name === undefined ? [id] : [id, row.slice(37)]
}

export function keyColumns({ id, name }: SealedColumn) {
  return sql.join(name === undefined ? [sql.ref(id)] : [sql.ref(id), sql.ref(name)])
}

/** The row of a cell as text. */
export function rowText({ id, name }: SealedColumn) {
  return name === undefined
    ? sql`cast(${sql.ref(id)} as text)`
    : sql`${sql.ref(id)} || '/' || ${sql.ref(name)}`
}
