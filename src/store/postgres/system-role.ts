import { type ConnectionPool, openPool, urlForRole } from '../../database/postgres/connection-pool.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { DatabaseRoles } from './roles.ts'

/** The only access to the rows of all tenants; `npm run arrows` checks that only postgres-store.ts imports it. */
export function openSystemPool(url: string, roles: DatabaseRoles, size: number, log: Log): ConnectionPool {
  return openPool(urlForRole(url, roles.system), size, log)
}
