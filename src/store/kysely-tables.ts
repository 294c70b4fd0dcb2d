import type { Generated } from 'kysely'
import type { ColumnsOf, StoredValueOf } from '../database/table.ts'
import type { tables } from './tables.ts'

type AnyTable = (typeof tables)[number]
type StoredColumns<C> = {
  [N in keyof C]: C[N] extends { presence: 'made' } ? Generated<StoredValueOf<C[N]>> : StoredValueOf<C[N]>
}

/** The tables, typed for kysely. Columns that the dialects store differently are `unknown`; the row codec reads them. */
export type Tables = { [T in AnyTable as T['name']]: StoredColumns<ColumnsOf<T>> }
