/** Finds and replaces sealed texts, for a change of keys. */
import { sql } from 'kysely'
import { isEncrypted } from '../../safe/secret.ts'
import { hookConfigPath } from '../paths.ts'
import type { SealedCell, VaultStore } from '../stores/vault-store.ts'
import { isUuid } from './column-values.ts'
import { bumpDefinitionVersions } from './hook-queries.ts'
import type { QueryBuilder, SqlDatabase } from './sql-database.ts'

const SEALED = 'aes-gcm:'

/** A column that holds sealed texts. With `name` a row's key is the tenant and that column, else `id`. */
interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly id: string
  readonly name?: string
}

/** All sealed columns except hook configs, whose sealed texts are nested. */
const sealedColumns: readonly SealedColumn[] = [
  { table: 'secrets', id: 'tenant_id', name: 'name', column: 'sealed' },
  { table: 'providers', id: 'tenant_id', name: 'name', column: 'sealed_key' },
  { table: 'audit_chains', id: 'chain', column: 'sealed_key' },
  { table: 'events', id: 'tenant_id', name: 'event_id', column: 'request' },
  { table: 'events', id: 'tenant_id', name: 'event_id', column: 'answer' },
  { table: 'idempotency', id: 'tenant_id', name: 'key', column: 'answer' },
  { table: 'deliveries', id: 'id', column: 'payload' },
  { table: 'hook_executions', id: 'id', column: 'error_detail' },
  { table: 'runs', id: 'tenant_id', name: 'run_id', column: 'parameters' },
  { table: 'runs', id: 'tenant_id', name: 'run_id', column: 'original_parameters' },
  { table: 'runs', id: 'tenant_id', name: 'run_id', column: 'error' },
  { table: 'runs', id: 'tenant_id', name: 'run_id', column: 'block_reason' },
  { table: 'run_events', id: 'tenant_id', name: 'event_id', column: 'data' },
  { table: 'approvals', id: 'tenant_id', name: 'approval_id', column: 'content' },
  { table: 'approvals', id: 'tenant_id', name: 'approval_id', column: 'answers' },
  { table: 'rules', id: 'tenant_id', name: 'rule_id', column: 'definition' },
  { table: 'teams', id: 'tenant_id', name: 'name', column: 'definition' },
  { table: 'environments', id: 'tenant_id', name: 'name', column: 'definition' },
  { table: 'mailbox_messages', id: 'tenant_id', name: 'message_id', column: 'content' },
  { table: 'rule_firings', id: 'tenant_id', name: 'firing_id', column: 'content' },
]

/** Which cells a page reads. */
interface CellQuery {
  /** The prefix of texts to skip; empty for none. */
  readonly otherThan: string
  readonly after: SealedCell | undefined
  readonly limit: number
}

type ResealQueries = Pick<VaultStore, 'holdsSealed' | 'sealedUnderOtherKeys' | 'resealCells'>

export function resealQueries(db: SqlDatabase): ResealQueries {
  return {
    holdsSealed: () =>
      db.system(async (trx) => {
        for (const column of sealedColumns) if (await holdsSealed(trx, column)) return true
        return (await configCells(db, trx, { otherThan: '', after: undefined, limit: 1 })).length > 0
      }),

    sealedUnderOtherKeys: (keyId, limit, after) =>
      db.system(async (trx) => {
        const otherThan = `${SEALED}${keyId}:`
        const from = sealedColumns.findIndex((column) => isCellOf(column, after))
        const cells: SealedCell[] = []
        // Cells of hook configs come last.
        const columns = after?.table === 'agent_hooks' ? [] : sealedColumns.slice(Math.max(from, 0))
        for (const column of columns) {
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
          const column = sealedColumns.find((candidate) => isCellOf(candidate, cell))
          const done =
            column === undefined
              ? await resealConfig(db, trx, { cell, sealed })
              : await resealColumn(trx, column, { cell, sealed })
          if (done) count++
        }
        return count
      }),
  }
}

interface Resealed {
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
async function configCells(
  { codec }: SqlDatabase,
  trx: QueryBuilder,
  { otherThan, after, limit }: CellQuery,
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
      .map(({ pointer, text }) => ({ ...hookConfigPath(id, pointer), sealed: text }))
      .sort((a, b) => (a.column < b.column ? -1 : 1)),
  )
  const behind = cells.filter(
    (cell) => from === undefined || cell.row > from.row || cell.column > from.column,
  )
  return behind.slice(0, limit)
}

/** Nodes reload the hook as after any change. Its version stays, because it does the same as before. */
async function resealConfig(
  db: SqlDatabase,
  trx: QueryBuilder,
  { cell, sealed }: Resealed,
): Promise<boolean> {
  if (cell.table !== 'agent_hooks' || !isUuid(cell.row)) return false
  const hook = await trx
    .selectFrom('agent_hooks')
    .select(['tenant_id', 'config', 'version'])
    .where('id', '=', cell.row)
    .executeTakeFirst()
  if (hook === undefined) return false
  const config = db.codec.readJson(hook.config)
  const pointer = cell.column.slice('config'.length)
  const isUnchanged = [...textsOf(config)].some((one) => one.pointer === pointer && one.text === cell.sealed)
  if (!isUnchanged) return false
  const updated = await trx
    .updateTable('agent_hooks')
    .set({ config: db.codec.json(replaceText(config, { pointer, text: sealed })) })
    .where('id', '=', cell.row)
    .where('version', '=', hook.version)
    .returning('id')
    .executeTakeFirst()
  if (updated === undefined) return false
  await bumpDefinitionVersions(trx, db.codec, [hook.tenant_id])
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
