import { nextTurn } from '../../../engine/core/clock.ts'
import type { DialectStatements } from '../sql-database.ts'

type TakeRequest = Parameters<DialectStatements['takeRun']>[0]
type TakenRow = Awaited<ReturnType<DialectStatements['takeRun']>>

/** Takes runs for several polls of one tenant in one transaction, in the order of the requests. */
export type TakeBatch = (requests: readonly TakeRequest[]) => Promise<readonly TakenRow[]>

interface WaitingTake {
  readonly request: TakeRequest
  resolve(row: TakenRow): void
  reject(error: unknown): void
}

/** Short, because the rows of a batch are locked until its end. */
const MAX_BATCH = 16

/** Polls that come at the same time share a transaction: the commit costs more than the claim itself. */
export function takeInBatches(takeBatch: TakeBatch): DialectStatements['takeRun'] {
  const tenants = new Map<string, WaitingTake[]>()

  async function serve(tenant: string, waiting: WaitingTake[]): Promise<void> {
    await nextTurn()
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH)
      try {
        const rows = await takeBatch(batch.map(({ request }) => request))
        for (const [index, { resolve }] of batch.entries()) resolve(rows[index])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      // Polls that got a run ask again at once.
      await nextTurn()
    }
    tenants.delete(tenant)
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const waiting = tenants.get(request.tenant)
      const take = { request, resolve, reject }
      if (waiting !== undefined) return void waiting.push(take)
      const first = [take]
      tenants.set(request.tenant, first)
      void serve(request.tenant, first)
    })
}
