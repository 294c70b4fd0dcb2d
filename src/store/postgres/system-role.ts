import type { Log } from '../../engine/core/sink.ts'
import { asRole, openPool, type Pool } from './connection-pool.ts'
import type { Roles } from './roles.ts'

/** The only way to the rows of all tenants. Nothing but this file takes the part of the system role. */
export function openSystemPool(url: string, roles: Roles, size: number, log: Log): Pool {
  return openPool(asRole(url, roles.system), size, log)
}
