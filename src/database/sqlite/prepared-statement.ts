import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { serverError } from '../../engine/core/errors/server-errors.ts'

export type SqliteRow = Record<string, SQLOutputValue>

/** Returns a function that runs synchronous work as one transaction. */
export function prepareTransaction(database: DatabaseSync): <T>(work: () => T) => T {
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
      // After some failures SQLite has already rolled back.
      if (database.isTransaction) rollback.run()
      throw error
    }
  }
}

export function textColumn(value: SQLOutputValue | undefined): string {
  return typeof value === 'string' ? value : throwUnexpected('text')
}

export function numberColumn(value: SQLOutputValue | undefined): number {
  return typeof value === 'number' ? value : throwUnexpected('a number')
}

function throwUnexpected(expected: string): never {
  throw serverError('store.corrupt', `a column does not hold ${expected}`)
}
