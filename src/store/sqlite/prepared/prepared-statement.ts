import type { DatabaseSync, StatementSync } from 'node:sqlite'

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
