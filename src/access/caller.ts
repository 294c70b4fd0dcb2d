import { type Role, roles } from './tenant-tables.ts'

/** The authenticated caller. */
export interface Caller {
  /** The tenant whose data it reads and changes. */
  readonly tenant: string
  readonly role: Role
  /** Its token belongs to the master tenant: it may create global hooks and act for any tenant. */
  readonly master: boolean
  /** The name of its token, stored with each change it makes. */
  readonly name: string
  /** Set if the token is bound to one agent. */
  readonly agentId: string | undefined
}

export function reaches(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

/** The caller on the unix socket without a token. Node cannot verify the peer's user id, so it may only dispatch. */
export function localCaller(tenant: string): Caller {
  return { tenant, role: 'agent', master: false, name: 'socket', agentId: undefined }
}
