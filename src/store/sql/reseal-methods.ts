import { sql } from 'kysely'
import { isEncrypted } from '../../safe/secret.ts'
import { hookConfigPlace } from '../paths.ts'
import type { SealedCell, VaultStore } from '../stores/vault-store.ts'
import { isUuid } from './column-values.ts'
import { bumpVersions } from './hook-methods.ts'
import type { Db, Query } from './sql-database.ts'

const SEALED = 'aes-gcm:'

type Reseal = Pick<VaultStore, 'holdsSealed' | 'sealedUnderOtherKeys' | 'resealCells'>

export function reseal(db: Db): Reseal {
  return {
    holdsSealed: () =>
      db.system(async (trx) => {
        for (const column of sealedColumns) if (await holdsSealed(trx, column)) return true
        return (await configCells(db, trx, { otherThan: '', after: undefined, limit: 1 })).length > 0
      }),

    sealedUnderOtherKeys: (keyId, limit, after) =>
      db.system(async (trx) => {
        const otherThan = `${SEALED}${keyId}:`
        const from = sealedColumns.findIndex((column) => isOf(column, after))
        const cells: SealedCell[] = []
        // A cell of a config comes after all others.
        const rest = after?.table === 'agent_hooks' ? [] : sealedColumns.slice(Math.max(from, 0))
        for (const column of rest) {
          const left = limit - cells.length
          if (left <= 0) return cells
          cells.push(...(await columnCells(trx, column, { otherThan, after, limit: left })))
        }
        const left = limit - cells.length
        if (left > 0) cells.push(...(await configCells(db, trx, { otherThan, after, limit: left })))
        return cells
      }),

    resealCells: (cells) =>
      db.system(async (trx) => {
        let count = 0
        for (const { cell, sealed } of cells) {
          const column = sealedColumns.find((candidate) => isOf(candidate, cell))
          const done =
            column === undefined
              ? await resealConfig(db, trx, cell, sealed)
              : await resealColumn(trx, column, cell, sealed)
          if (done) count++
        }
        return count
      }),
  }
}

interface Wanted {
  readonly otherThan: string
  readonly after: SealedCell | undefined
  readonly limit: number
}

function isOf({ table, column }: SealedColumn, cell: SealedCell | undefined): boolean {
  return cell?.table === table && cell.column === column
}

function sealedIn({ column }: SealedColumn) {
  return sql`substr(${sql.ref(column)}, 1, ${SEALED.length}) = ${SEALED}`
}

async function holdsSealed(trx: Query, column: SealedColumn): Promise<boolean> {
  const { rows } =
    await sql`select 1 from ${sql.table(column.table)} where ${sealedIn(column)} limit 1`.execute(trx)
  return rows.length > 0
}

async function columnCells(trx: Query, column: SealedColumn, { otherThan, after, limit }: Wanted) {
  const ref = sql.ref(column.column)
  const key = after !== undefined && isOf(column, after) ? keyOf(column, after.row) : undefined
  const behind = key === undefined ? sql`` : sql`and (${keyColumns(column)}) > (${sql.join(key)})`
  const { rows } = await sql<{ row: string; sealed: string }>`
    select ${rowText(column)} as "row", ${ref} as sealed from ${sql.table(column.table)}
    where ${sealedIn(column)} and substr(${ref}, 1, ${otherThan.length}) <> ${otherThan} ${behind}
    order by ${keyColumns(column)} limit ${limit}`.execute(trx)
  return rows.map(({ row, sealed }) => ({ table: column.table, row, column: column.column, sealed }))
}

async function resealColumn(trx: Query, column: SealedColumn, cell: SealedCell, sealed: string) {
  const key = keyOf(column, cell.row)
  if (key === undefined) return false
  const ref = sql.ref(column.column)
  const { rows } = await sql`
    update ${sql.table(column.table)} set ${ref} = ${sealed}
    where (${keyColumns(column)}) = (${sql.join(key)}) and ${ref} = ${cell.sealed} returning 1`.execute(trx)
  return rows.length > 0
}

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

/** Sealed texts inside the configs of hooks, of which there are few compared with what is recorded. */
export async function configCells(
  { codec }: Db,
  trx: Query,
  { otherThan, after, limit }: { otherThan: string; after: SealedCell | undefined; limit: number },
): Promise<readonly SealedCell[]> {
  const from = after?.table === 'agent_hooks' && isUuid(after.row) ? after : undefined
  const hooks = await trx
    .selectFrom('agent_hooks')
    .select(['id', 'config'])
    .where(sql<boolean>`cast(config as text) like '%aes-gcm:%'`)
    .$if(from !== undefined, (query) => query.where('id', '>=', from?.row ?? ''))
    .orderBy('id')
    .execute()
  const cells = hooks.flatMap(({ id, config }) =>
    [...textsOf(codec.readJson(config))]
      .filter(({ text }) => isEncrypted(text) && (otherThan === '' || !text.startsWith(otherThan)))
      .map(({ pointer, text }) => ({ ...hookConfigPlace(id, pointer), sealed: text }))
      .sort((a, b) => (a.column < b.column ? -1 : 1)),
  )
  const behind = cells.filter(
    (cell) => from === undefined || cell.row > from.row || cell.column > from.column,
  )
  return behind.slice(0, limit)
}

/** Nodes get to know the new text like any change of a definition; the version of the hook stays, as it does the same. */
export async function resealConfig(db: Db, trx: Query, cell: SealedCell, sealed: string): Promise<boolean> {
  if (cell.table !== 'agent_hooks' || !isUuid(cell.row)) return false
  const hook = await trx
    .selectFrom('agent_hooks')
    .select(['tenant_id', 'config', 'version'])
    .where('id', '=', cell.row)
    .executeTakeFirst()
  if (hook === undefined) return false
  const config = db.codec.readJson(hook.config)
  const pointer = cell.column.slice('config'.length)
  const found = [...textsOf(config)].some((text) => text.pointer === pointer && text.text === cell.sealed)
  if (!found) return false
  const updated = await trx
    .updateTable('agent_hooks')
    .set({ config: db.codec.json(withText(config, pointer, sealed)) })
    .where('id', '=', cell.row)
    .where('version', '=', hook.version)
    .returning('id')
    .executeTakeFirst()
  if (updated === undefined) return false
  await bumpVersions(trx, db.codec, [hook.tenant_id])
  return true
}

/** A sealed text inside a config, and the JSON pointer to it. */
export interface ConfigText {
  readonly pointer: string
  readonly text: string
}

export function* textsOf(value: unknown, pointer = ''): Generator<ConfigText> {
  if (typeof value === 'string') yield { pointer, text: value }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* textsOf(inner, `${pointer}/${escaped(key)}`)
}

/** The same value with another text at one place. */
export function withText(value: unknown, pointer: string, text: string, at = ''): unknown {
  if (at === pointer) return text
  if (typeof value !== 'object' || value === null) return value
  const inner = (key: string, item: unknown) => withText(item, pointer, text, `${at}/${escaped(key)}`)
  if (Array.isArray(value)) return value.map((item, index) => inner(String(index), item))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(key, item)]))
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
