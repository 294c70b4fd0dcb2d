import { isHookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { parseStoredJson } from '../safe/json.ts'
import type { SealedPath, Secrets } from '../safe/secrets/secret.ts'
import { type Column, columnNames, keyOf, type Table } from './table.ts'

/** How a database writes and reads the values that not every database has. Flags need no reading. */
export interface ValueCodec {
  json(value: unknown): unknown
  readJson(stored: unknown): unknown
  flag(value: boolean): unknown
  list(texts: readonly string[]): unknown
  readList(stored: unknown): readonly string[]
}

export type StoredRow = Record<string, unknown>

/** How the rows of one table are written and read, made once per database. */
export interface RowCodec {
  /** The columns that rows show. */
  readonly shown: readonly string[]
  /** The value of a column as a parameter. `row` has the columns that name the row. */
  write(column: string, value: unknown, row: StoredRow): unknown
  /** Turns a row of the database, whole or in part, into a row of the program, in place. */
  read(row: StoredRow): StoredRow
}

export function rowCodec(table: Table, values: ValueCodec, secrets: Secrets): RowCodec {
  const names = columnNames(table)
  const identity = table.identity ?? keyOf(table)
  const pathOf = (column: string, row: StoredRow): SealedPath => ({
    table: table.name,
    row: identity.map((name) => row[name]).join('/'),
    column,
  })
  const readers = names.flatMap((name) => {
    const column = table.columns[name]
    const read = column && readerOf(name, column, values)
    return column?.sealed === 'json' || column?.sealed === 'text'
      ? [{ name, column, read: openerOf(column, secrets, (row) => pathOf(name, row)) }]
      : column && (read !== undefined || column.presence === 'optional')
        ? [{ name, column, read }]
        : []
  })
  return {
    shown: names.filter((name) => table.columns[name]?.shown),
    write(name, value, row) {
      const column = table.columns[name]
      if (value === null || column === undefined) return value
      if (column.sealed === 'json') return secrets.encrypt(JSON.stringify(value), pathOf(name, row))
      if (column.sealed === 'text') return secrets.encrypt(String(value), pathOf(name, row))
      return writeValue(column, value, values)
    },
    read(row) {
      for (const { name, column, read } of readers) {
        const stored = row[name]
        if (stored === undefined) continue
        if (stored !== null) row[name] = read === undefined ? stored : read(stored, row)
        else if (column.presence === 'optional') delete row[name]
      }
      return row
    },
  }
}

function writeValue(column: Column, value: unknown, values: ValueCodec): unknown {
  if (column.isJsonText) return JSON.stringify(value)
  if (column.kind === 'json') return values.json(value)
  if (column.kind === 'flag') return values.flag(value === true)
  // The type of the column: a list of texts.
  return column.kind === 'list' ? values.list(value as readonly string[]) : value
}

type Read = (stored: unknown, row: StoredRow) => unknown

function readerOf(name: string, { kind, isJsonText, words }: Column, values: ValueCodec): Read | undefined {
  if (isJsonText) return (stored) => JSON.parse(String(stored))
  if (kind === 'json') return (stored) => values.readJson(stored)
  if (kind === 'flag') return Boolean
  if (kind === 'list') return (stored) => values.readList(stored)
  return words && ((stored) => readWord(name, words, stored))
}

function readWord(name: string, words: readonly string[], stored: unknown): unknown {
  if (words.some((word) => word === stored)) return stored
  throw serverError('store.corrupt', `${name}: a column holds a value that is not one of ${words.join(', ')}`)
}

function openerOf(column: Column, secrets: Secrets, pathOf: (row: StoredRow) => SealedPath): Read {
  return (stored, row) => {
    const text = openSealed(secrets, String(stored), pathOf(row))
    if (column.sealed === 'text') return text ?? column.lost
    return text === undefined ? null : parseStoredJson(text)
  }
}

/** Undefined if the key is gone. Other errors are thrown. */
export function openSealed(secrets: Secrets, sealed: string, path: SealedPath): string | undefined {
  try {
    return secrets.decrypt(sealed, path)
  } catch (error) {
    if (isHookError(error) && error.code === 'secret.unreadable') return undefined
    throw error
  }
}
