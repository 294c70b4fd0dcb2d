import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { serverError } from '../../../engine/core/server-errors.ts'

/** Runs work that does not yield as one transaction. Statements are prepared once. */
export function transactions(database: DatabaseSync): <T>(work: () => T) => T {
  const [begin, commit, rollback] = ['begin immediate', 'commit', 'rollback'].map((text) =>
    database.prepare(text),
  ) as [StatementSync, StatementSync, StatementSync]
  return (work) => {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      // After some failures SQLite has rolled back by itself.
      if (database.isTransaction) rollback.run()
      throw error
    }
  }
}

export type Row = Record<string, SQLOutputValue>

export function text(value: SQLOutputValue | undefined): string {
  return typeof value === 'string' ? value : unexpected('text')
}

export function number(value: SQLOutputValue | undefined): number {
  return typeof value === 'number' ? value : unexpected('a number')
}

export function textOrNull(value: SQLOutputValue | undefined): string | null {
  return value === null ? null : text(value)
}

export function numberOrNull(value: SQLOutputValue | undefined): number | null {
  return value === null ? null : number(value)
}

function unexpected(what: string): never {
  throw serverError('store.corrupt', `a column does not hold ${what}`)
}
