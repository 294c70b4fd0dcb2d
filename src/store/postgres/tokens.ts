import { oneOf } from '../sql/one-of.ts'
import { roles, type TenantStore } from '../stores/tenant-store.ts'
import type { Pool } from './pool.ts'

/** Every request begins with this question. */
export function findToken(pool: Pool): TenantStore['findToken'] {
  return async (hash) => {
    const { rows } = await pool.query({
      name: 'find_token',
      text: 'select id, tenant_id, name, role, agent_id, created_at, expires_at from tokens where hash = $1',
      values: [hash],
    })
    const row = rows[0]
    return row && { ...row, role: oneOf(roles, row.role) }
  }
}
