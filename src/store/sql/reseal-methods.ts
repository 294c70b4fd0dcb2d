import { sql } from 'kysely'
import type { SealedCell, VaultStore } from '../../stores/vault-store.ts'
import type { Db, Query } from '../database.ts'
import { configCells, resealConfig } from './hook-configs.ts'
import { keyColumns, keyOf, rowText, type SealedColumn, sealedColumns } from './sealed-columns.ts'

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
