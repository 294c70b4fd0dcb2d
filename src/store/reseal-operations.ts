/** Finds and replaces sealed texts, for a change of keys. */
import { sql } from 'kysely'
import { isUuid } from '../database/column-values.ts'
import { afterWholeJournal, inSystem, type Tx } from '../database/operation.ts'
import { find, listRows, update } from '../database/rows.ts'
import { hookConfigPath } from '../database/sealed-paths.ts'
import type { QueryBuilder } from '../database/sql-database.ts'
import { columnNames, keyOf, type Table } from '../database/table.ts'
import { isEncrypted } from '../safe/secrets/secret.ts'
import type { SealedCell } from '../secrets/secret-tables.ts'
import { bumpDefinitionVersions } from '../stored-hooks/hook-operations.ts'
import { agentHooks } from '../stored-hooks/hook-tables.ts'
import { tables } from './tables.ts'

const SEALED = 'aes-gcm:'

/** A column that holds sealed texts. With `name` a row's key is the tenant and that column, else `id`. */
interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly id: string
  readonly name?: string
}

/** All sealed columns except hook configs, whose sealed texts are nested. */
const sealedColumns: readonly SealedColumn[] = tables.flatMap((table: Table) => {
  const [id = '', name] = table.identity ?? keyOf(table)
  const sealed = columnNames(table).filter((column) => table.columns[column]?.sealed !== undefined)
  return sealed.map((column) => ({ table: table.name, column, id, ...(name === undefined ? {} : { name }) }))
})

/** Which cells a page reads. */
interface CellQuery {
  /** The prefix of texts to skip; empty for none. */
  readonly otherThan: string
  readonly after: SealedCell | undefined
  readonly limit: number
}

export const resealOperations = {
  /** Whether the database holds any sealed text. */
  holdsSealed: inSystem(async (tx) => {
    for (const column of sealedColumns) if (await holdsSealed(tx.trx, column)) return true
    return (await configCells(tx, { otherThan: '', after: undefined, limit: 1 })).length > 0
  }, afterWholeJournal),

  /**
   * Returns a page of sealed texts that are not under this key. `after` is the last cell of the previous page, so that cells
   * that no key opens are passed. If a run from the start finds nothing, the change of keys is complete.
   */
  sealedUnderOtherKeys: inSystem(async (tx, keyId: string, limit: number, after?: SealedCell) => {
    const otherThan = `${SEALED}${keyId}:`
    const from = sealedColumns.findIndex((column) => isCellOf(column, after))
    const cells: SealedCell[] = []
    // Cells of hook configs come last.
    const columns = after?.table === 'agent_hooks' ? [] : sealedColumns.slice(Math.max(from, 0))
    for (const column of columns) {
      const left = limit - cells.length
      if (left <= 0) return cells
      cells.push(...(await columnCells(tx.trx, column, { otherThan, after, limit: left })))
    }
    const left = limit - cells.length
    if (left > 0) cells.push(...(await configCells(tx, { otherThan, after, limit: left })))
    return cells
  }, afterWholeJournal),

  /** Replaces sealed texts. A cell that changed since it was read stays as it is. Returns how many were replaced. */
  resealCells: inSystem(async (tx, cells: readonly Resealed[]) => {
    const { trx } = tx
    let count = 0
    for (const { cell, sealed } of cells) {
      const column = sealedColumns.find((candidate) => isCellOf(candidate, cell))
      const done =
        column === undefined
          ? await resealConfig(tx, { cell, sealed })
          : await resealColumn(trx, column, { cell, sealed })
      if (done) count++
    }
    return count
  }, afterWholeJournal),
}

export interface Resealed {
  readonly cell: SealedCell
  readonly sealed: string
}

function isCellOf({ table, column }: SealedColumn, cell: SealedCell | undefined): boolean {
  return cell?.table === table && cell.column === column
}

function isSealedSql({ column }: SealedColumn) {
  return sql`substr(${sql.ref(column)}, 1, ${SEALED.length}) = ${SEALED}`
}

function keyColumns({ id, name }: SealedColumn) {
  return sql.join(name === undefined ? [sql.ref(id)] : [sql.ref(id), sql.ref(name)])
}

/** The values of the key columns that a cell's row names; undefined if malformed. */
function keyValues({ name }: SealedColumn, row: string): readonly string[] | undefined {
  const id = name === undefined ? row : row.slice(0, 36)
  if (!isUuid(id)) return undefined
  return name === undefined ? [id] : [id, row.slice(37)]
}

/** The row of a cell as text. */
function rowText({ id, name }: SealedColumn) {
  return name === undefined
    ? sql`cast(${sql.ref(id)} as text)`
    : sql`${sql.ref(id)} || '/' || ${sql.ref(name)}`
}

async function holdsSealed(trx: QueryBuilder, column: SealedColumn): Promise<boolean> {
  const { rows } =
    await sql`select 1 from ${sql.table(column.table)} where ${isSealedSql(column)} limit 1`.execute(trx)
  return rows.length > 0
}

async function columnCells(trx: QueryBuilder, column: SealedColumn, { otherThan, after, limit }: CellQuery) {
  const ref = sql.ref(column.column)
  const key = after !== undefined && isCellOf(column, after) ? keyValues(column, after.row) : undefined
  const behind = key === undefined ? sql`` : sql`and (${keyColumns(column)}) > (${sql.join(key)})`
  const { rows } = await sql<{ row: string; sealed: string }>`
    select ${rowText(column)} as "row", ${ref} as sealed from ${sql.table(column.table)}
    where ${isSealedSql(column)} and substr(${ref}, 1, ${otherThan.length}) <> ${otherThan} ${behind}
    order by ${keyColumns(column)} limit ${limit}`.execute(trx)
  return rows.map(({ row, sealed }) => ({ table: column.table, row, column: column.column, sealed }))
}

async function resealColumn(trx: QueryBuilder, column: SealedColumn, { cell, sealed }: Resealed) {
  const key = keyValues(column, cell.row)
  if (key === undefined) return false
  const ref = sql.ref(column.column)
  const { rows } = await sql`
    update ${sql.table(column.table)} set ${ref} = ${sealed}
    where (${keyColumns(column)}) = (${sql.join(key)}) and ${ref} = ${cell.sealed} returning 1`.execute(trx)
  return rows.length > 0
}

/** Sealed texts inside hook configs. Hooks are few compared with recorded events, so one query reads them all. */
async function configCells(tx: Tx, { otherThan, after, limit }: CellQuery): Promise<readonly SealedCell[]> {
  const from = after?.table === 'agent_hooks' && isUuid(after.row) ? after : undefined
  const hooks = await listRows(
    tx,
    agentHooks,
    {},
    ['id'],
    [sql`cast(config as text) like '%aes-gcm:%'`, ...(from === undefined ? [] : [sql`id >= ${from.row}`])],
  )
  const cells = hooks.flatMap(({ id, config }) =>
    [...textsOf(config)]
      .filter(({ text }) => isEncrypted(text) && (otherThan === '' || !text.startsWith(otherThan)))
      .map(({ pointer, text }) => ({ ...hookConfigPath(id, pointer), sealed: text }))
      .sort((a, b) => (a.column < b.column ? -1 : 1)),
  )
  const behind = cells.filter(
    (cell) => from === undefined || cell.row > from.row || cell.column > from.column,
  )
  return behind.slice(0, limit)
}

/** Nodes reload the hook as after any change. Its version stays, because it does the same as before. */
async function resealConfig(tx: Tx, { cell, sealed }: Resealed): Promise<boolean> {
  const hook = cell.table === 'agent_hooks' ? await find(tx, agentHooks, { id: cell.row }) : undefined
  if (hook === undefined) return false
  const { tenant_id, id, version, config } = hook
  const pointer = cell.column.slice('config'.length)
  const isUnchanged = [...textsOf(config)].some((one) => one.pointer === pointer && one.text === cell.sealed)
  if (!isUnchanged) return false
  const resealed = { config: replaceText(config, { pointer, text: sealed }) }
  if ((await update(tx, agentHooks, { id, version }, resealed)).length === 0) return false
  await bumpDefinitionVersions(tx, [tenant_id])
  return true
}

/** A text inside a config, and the JSON pointer to it. */
interface TextAtPointer {
  readonly pointer: string
  readonly text: string
}

function* textsOf(value: unknown, pointer = ''): Generator<TextAtPointer> {
  if (typeof value === 'string') yield { pointer, text: value }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* textsOf(inner, `${pointer}/${escapeKey(key)}`)
}

/** A copy of the value with another text at the pointer. */
function replaceText(value: unknown, target: TextAtPointer, at = ''): unknown {
  if (at === target.pointer) return target.text
  if (typeof value !== 'object' || value === null) return value
  const inner = (key: string, item: unknown) => replaceText(item, target, `${at}/${escapeKey(key)}`)
  if (Array.isArray(value)) return value.map((item, index) => inner(String(index), item))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(key, item)]))
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
