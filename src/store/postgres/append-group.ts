import type { AppendedGroup } from '../sql/audit/audit-group.ts'
import { appendEntry, insertAnswers, insertDeliveries } from './group-statements.ts'
import type { Pool } from './pool.ts'

/** Most groups are one entry, and one statement is a transaction of its own. */
export async function appendGroup(
  pool: Pool,
  { entry, deliveries, answers, now }: AppendedGroup,
): Promise<void> {
  const statements = [
    ...(entry === undefined ? [] : [appendEntry(entry)]),
    ...(deliveries.length > 0 ? [insertDeliveries(deliveries)] : []),
    ...(answers.length > 0 ? [insertAnswers(answers, now)] : []),
  ]
  const [only, second] = statements
  if (only === undefined) return
  if (second === undefined) {
    await pool.query(only)
    return
  }
  await pool.transaction('begin', (client) =>
    Promise.all(statements.map((statement) => client.query(statement))),
  )
}
