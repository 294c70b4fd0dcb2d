import type { DatabaseSync } from 'node:sqlite'
import { oneOf } from '../../sql/one-of.ts'
import { roles, type TokenRow } from '../../stores/tenant-store.ts'
import { number, numberOrNull, text, textOrNull } from './read.ts'

export function tokensByHand(database: DatabaseSync) {
  const select = database.prepare(
    'select id, tenant_id, name, role, agent_id, created_at, expires_at from tokens where hash = ?',
  )
  return (hash: Uint8Array): TokenRow | undefined => {
    const row = select.get(hash)
    return (
      row && {
        id: text(row.id),
        tenant_id: text(row.tenant_id),
        name: text(row.name),
        role: oneOf(roles, row.role),
        agent_id: textOrNull(row.agent_id),
        created_at: number(row.created_at),
        expires_at: numberOrNull(row.expires_at),
      }
    )
  }
}
