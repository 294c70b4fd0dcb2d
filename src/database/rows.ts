/** Reading and writing rows of a table, as its declaration says. */
import { type RawBuilder, sql } from 'kysely'
import { isUuid } from './column-values.ts'
import type { Tx } from './operation.ts'
import { type Keyset, type Page, pageFromRows, readNumberCursor, readTextCursor } from './page-cursor.ts'
import {
  columnNames,
  keyOf,
  type NewRowOf,
  type RowOf,
  type Table,
  type WholeRowOf,
  type WritableRowOf,
} from './table.ts'

type Written<Row> = { readonly [N in keyof Row]: Row[N] | RawBuilder<unknown> }
/** Columns and the values that they must have. */
export type RowMatch<T> = Partial<WritableRowOf<T>>
export type Changes<T> = Partial<Written<WritableRowOf<T>>>
export type Condition = RawBuilder<unknown>

/** A condition for a row to be found. A malformed id matches nothing: PostgreSQL would reject the statement. */
export function matches<T extends Table>({ db }: Tx, table: T, match: RowMatch<T>): readonly Condition[] {
  return Object.entries(match).map(([name, value]) => {
    const column = sql.ref(`${table.name}.${name}`)
    if (value === null) return sql`${column} is null`
    const isMalformed = table.columns[name]?.kind === 'id' && !isUuid(String(value))
    return value === undefined || isMalformed
      ? sql`1 = 0`
      : sql`${column} = ${db.rows(table).write(name, value, {})}`
  })
}

const all = (conditions: readonly Condition[]) => sql.join(conditions, sql` and `)

function columnsOf({ db }: Tx, table: Table, whole: boolean) {
  return sql.join((whole ? columnNames(table) : db.rows(table).shown).map((name) => sql.ref(name)))
}

interface Selection {
  readonly and?: readonly Condition[]
  readonly order?: readonly string[]
  /** Rows have the columns that only the store knows, too. */
  readonly whole?: boolean
  /** Other transactions wait until this one ends. On SQLite they do anyway. */
  readonly lock?: boolean
  readonly limit?: number
}

async function select<T extends Table, Row = RowOf<T>>(
  tx: Tx,
  table: T,
  match: RowMatch<T>,
  selection: Selection,
) {
  const { and = [], order = [], whole = false, lock = false, limit } = selection
  const { rows } = await sql`select ${columnsOf(tx, table, whole)} from ${sql.table(table.name)}
    where ${all([...matches(tx, table, match), ...and])}
    ${order.length === 0 ? sql`` : sql`order by ${sql.join(order.map((text) => sql.raw(text)))}`}
    ${limit === undefined ? sql`` : sql`limit ${limit}`}
    ${lock && tx.db.dialect === 'postgres' ? sql`for update` : sql``}`.execute(tx.trx)
  return readRows<T, Row>(tx, table, rows)
}

/** Rows of a query, with the columns of a table. */
export function readRows<T extends Table, Row = RowOf<T>>(
  { db }: Pick<Tx, 'db'>,
  table: T,
  rows: readonly unknown[],
) {
  const codec = db.rows(table)
  // The database returned the columns that the declaration names.
  return rows.map((row) => codec.read(row as Record<string, unknown>) as Row)
}

export async function find<T extends Table>(
  tx: Tx,
  table: T,
  match: RowMatch<T>,
): Promise<RowOf<T> | undefined> {
  return (await select(tx, table, match, { limit: 1 }))[0]
}

/** Finds whole rows, and locks them until the transaction ends. */
export function lockRows<T extends Table>(
  tx: Tx,
  table: T,
  match: RowMatch<T>,
  and: readonly Condition[] = [],
): Promise<readonly WholeRowOf<T>[]> {
  return select<T, WholeRowOf<T>>(tx, table, match, { whole: true, lock: true, and })
}

export async function lockRow<T extends Table>(tx: Tx, table: T, match: RowMatch<T>) {
  return (await lockRows(tx, table, match))[0]
}

export function listRows<T extends Table>(
  tx: Tx,
  table: T,
  match: RowMatch<T>,
  order: readonly string[],
  and: readonly Condition[] = [],
): Promise<readonly RowOf<T>[]> {
  return select(tx, table, match, { order, and })
}

/** Which page of a list, newest first. */
export interface PageRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

/** A page in the order of two columns, a time and what separates rows of the same time, newest first. */
export async function page<T extends Table>(
  tx: Tx,
  table: T,
  {
    cursor,
    limit,
    ...from
  }: PageRequest & {
    readonly match: RowMatch<T>
    readonly and?: readonly Condition[]
    readonly by: readonly [time: string, key: string]
  },
): Promise<Page<RowOf<T>>> {
  const [time, key] = from.by
  const isNumber = table.columns[key]?.kind !== 'text' && table.columns[key]?.kind !== 'id'
  const start = cursor ? (isNumber ? readNumberCursor(cursor) : readTextCursor(cursor)) : undefined
  const before =
    start === undefined ? [] : [sql`(${sql.ref(time)}, ${sql.ref(key)}) < (${start.time}, ${start.key})`]
  const rows = await select(tx, table, from.match, {
    and: [...(from.and ?? []), ...before],
    order: [`${time} desc`, `${key} desc`],
    limit: limit + 1,
    whole: true,
  })
  const { shown } = tx.db.rows(table)
  const hidden = columnNames(table).filter((name) => !shown.includes(name))
  const found = pageFromRows(rows, limit, (row) => keysetOf(row, time, key))
  for (const row of found.rows) for (const name of hidden) delete (row as Record<string, unknown>)[name]
  return found
}

function keysetOf(row: object, time: string, key: string): Keyset<string | number> {
  const values = row as Readonly<Record<string, string | number>>
  return { time: Number(values[time]), key: values[key] ?? '' }
}

/** What happens to a row whose key exists: it is an error, it stays (`keep any`: with any unique key), or gets these columns. */
type OnConflict<T> = 'keep' | 'keep any' | Changes<T> | undefined

/** Inserts a row. Undefined if one with its key stays. */
export async function insert<T extends Table>(
  tx: Tx,
  table: T,
  row: Written<NewRowOf<T>>,
  onConflict?: OnConflict<T>,
): Promise<RowOf<T> | undefined> {
  const given: Readonly<Record<string, unknown>> = row
  const names = columnNames(table).filter((name) => given[name] !== undefined)
  const values = names.map((name) => sql`${parameter(tx, table, name, given)}`)
  const key = sql.join(keyOf(table).map((name) => sql.ref(name)))
  const conflict =
    onConflict === undefined
      ? sql``
      : onConflict === 'keep any'
        ? sql`on conflict do nothing`
        : onConflict === 'keep'
          ? sql`on conflict (${key}) do nothing`
          : sql`on conflict (${key}) do update set ${assignments(tx, table, { ...given, ...onConflict }, Object.keys(onConflict))}`
  const { rows } =
    await sql`insert into ${sql.table(table.name)} (${sql.join(names.map((name) => sql.ref(name)))})
    values (${sql.join(values)}) ${conflict} returning ${columnsOf(tx, table, false)}`.execute(tx.trx)
  return readRows(tx, table, rows)[0]
}

export async function update<T extends Table>(
  tx: Tx,
  table: T,
  match: RowMatch<T>,
  changes: Changes<T>,
  and: readonly Condition[] = [],
): Promise<readonly RowOf<T>[]> {
  const given = { ...match, ...changes }
  const { rows } =
    await sql`update ${sql.table(table.name)} set ${assignments(tx, table, given, Object.keys(changes))}
    where ${all([...matches(tx, table, match), ...and])} returning ${columnsOf(tx, table, false)}`.execute(
      tx.trx,
    )
  return readRows(tx, table, rows)
}

/** Whether there was such a row. */
export async function removeRow<T extends Table>(tx: Tx, table: T, match: RowMatch<T>): Promise<boolean> {
  const { rows } = await sql`delete from ${sql.table(table.name)}
    where ${all(matches(tx, table, match))} returning 1`.execute(tx.trx)
  return rows.length > 0
}

function assignments(
  tx: Tx,
  table: Table,
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
) {
  const changed = names.filter((name) => given[name] !== undefined)
  return sql.join(changed.map((name) => sql`${sql.ref(name)} = ${parameter(tx, table, name, given)}`))
}

function parameter({ db }: Tx, table: Table, name: string, row: Readonly<Record<string, unknown>>): unknown {
  const value = row[name]
  // An expression, such as the time of the database.
  if (isExpression(value)) return value
  return db.rows(table).write(name, value, row)
}

/** Told by a method, which no stored value has: values are plain data. */
function isExpression(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('toOperationNode' in value)) return false
  return typeof value.toOperationNode === 'function'
}
