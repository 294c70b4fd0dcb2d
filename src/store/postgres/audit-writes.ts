import type pg from 'pg'
import type { AuditGroup, SealedExecution } from '../sql/audit/audit-group.ts'
import { isUuid } from '../sql/uuid.ts'
import {
  holdHooks,
  insertEvents,
  insertExecutions,
  knownExecutions,
  type LinkedExecution,
  moveHead,
  removeEntry,
} from './group-statements.ts'
import type { Pool } from './pool.ts'
import { escapeJson } from './stored-text.ts'

/** One statement per table. What needs no answer of another statement is sent without waiting for it. */
export function writeGroup(pool: Pool, group: AuditGroup): Promise<void> {
  const { events, executions, links, entry } = group
  return pool.transaction('begin', async (client) => {
    // Another node that makes rows of the same entry waits here, and then finds it gone.
    const { rowCount } = await client.query(removeEntry(entry))
    if (rowCount === 0) return
    // The order in which they are sent is the order in which the server does them.
    const sent = events.length > 0 ? [client.query(insertEvents(events))] : []
    const [fresh] = await Promise.all([freshExecutions(client, executions), ...sent])
    if (fresh.length === 0) return
    const linked = fresh.map(({ execution, hook_id }): LinkedExecution => {
      const link = links.next(execution)
      links.advance(link)
      return { ...execution, ...link, hook_id, chain: links.chain, metadata: escapeJson(execution.metadata) }
    })
    await Promise.all([client.query(insertExecutions(linked)), client.query(moveHead(links))])
  })
}

interface Fresh {
  readonly execution: SealedExecution
  /** Null when there is no such hook. */
  readonly hook_id: string | null
}

async function freshExecutions(
  client: pg.PoolClient,
  executions: readonly SealedExecution[],
): Promise<readonly Fresh[]> {
  if (executions.length === 0) return []
  const ids = new Set(executions.map((execution) => execution.hook_id).filter(isUuid))
  const [known, held] = await Promise.all([
    client.query(knownExecutions(executions)),
    client.query(holdHooks([...ids])),
  ])
  const seen = new Set(known.rows.map(keyOf))
  const hooks = new Set(held.rows.map((row) => row.id))
  return executions.flatMap((execution) => {
    const key = keyOf(execution)
    if (seen.has(key)) return []
    seen.add(key)
    return [{ execution, hook_id: hooks.has(execution.hook_id) ? execution.hook_id : null }]
  })
}

function keyOf(row: { tenant_id: string; dedup_key: string }): string {
  return `${row.tenant_id} ${row.dedup_key}`
}
