import { inTenant, inTenantAt } from './operation.ts'
import { find, insert, listRows, removeRow, update } from './rows.ts'
import type { RowOf, Table } from './table.ts'

export interface NamedDefinition {
  readonly name: string
  readonly definition: Readonly<Record<string, unknown>>
}

/** The operations of a table whose rows are things that a tenant has by name, each with a definition. */
export function namedOperations<T extends Table>(table: T) {
  // The columns are those of the table, which the compiler cannot follow through a type parameter.
  const typed = <Row>(row: Promise<Row>) => row as Promise<Row extends undefined ? undefined : RowOf<T>>
  const of: Table = table
  return {
    /** Creates the thing if `isNew`, else replaces it. Undefined if it exists already, or does not exist. */
    save: inTenantAt(async (tx, tenant_id: string, { name, definition }: NamedDefinition, isNew: boolean) => {
      const now = await tx.time()
      const change = { definition, updated_at: now }
      return typed(
        isNew
          ? insert(tx, of, { tenant_id, name, ...change, created_at: now }, 'keep')
          : update(tx, of, { tenant_id, name }, change).then(([row]) => row),
      )
    }),
    find: inTenant((tx, tenant_id: string, name: string) => typed(find(tx, of, { tenant_id, name }))),
    list: inTenant(
      (tx, tenant_id: string) => listRows(tx, of, { tenant_id }, ['name']) as Promise<readonly RowOf<T>[]>,
    ),
    remove: inTenant((tx, tenant_id: string, name: string) => removeRow(tx, of, { tenant_id, name })),
  }
}
