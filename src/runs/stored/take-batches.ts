import type { DialectStatements } from '../../database/sql-database.ts'
import { nextTurn } from '../../engine/core/time/clock.ts'

export type TakeRequest = Parameters<DialectStatements['takeRun']>[0]
type TakenRow = Awaited<ReturnType<DialectStatements['takeRun']>>

/** Takes runs for several polls of one tenant together, in the order of the requests. A promise in the answer concerns its poll alone. */
export type TakeBatch = (
  requests: readonly TakeRequest[],
) => Promise<readonly (TakenRow | Promise<TakenRow>)[]>

interface WaitingTake {
  readonly request: TakeRequest
  resolve(row: TakenRow | Promise<TakenRow>): void
  reject(error: unknown): void
}

export interface BatchLimits {
  /** How many polls share a transaction. Its rows are locked until its end. */
  readonly size: number
  /** How many transactions of a tenant run at the same time. */
  readonly width: number
}

/** Polls that come at the same time share a transaction: the commit costs more than the claim itself. */
export function takeInBatches(
  takeBatch: TakeBatch,
  { size, width }: BatchLimits,
): DialectStatements['takeRun'] {
  const tenants = new Map<string, { readonly waiting: WaitingTake[]; running: number }>()

  async function serve(tenant: string): Promise<void> {
    const queue = tenants.get(tenant) ?? { waiting: [], running: 0 }
    const { waiting } = queue
    await nextTurn()
    while (waiting.length > 0) {
      const batch = waiting.splice(0, size)
      try {
        const rows = await takeBatch(batch.map(({ request }) => request))
        for (const [index, { resolve }] of batch.entries()) resolve(rows[index])
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      // Polls that got a run ask again at once.
      await nextTurn()
    }
    // In the same turn as the last look at the queue, so that no request waits in a queue without a server.
    queue.running--
    if (queue.running === 0) tenants.delete(tenant)
  }

  return (request) =>
    new Promise((resolve, reject) => {
      const { tenant } = request
      const queue = tenants.get(tenant) ?? { waiting: [], running: 0 }
      tenants.set(tenant, queue)
      queue.waiting.push({ request, resolve, reject })
      if (queue.running >= Math.min(width, Math.ceil(queue.waiting.length / size))) return
      queue.running++
      void serve(tenant)
    })
}
