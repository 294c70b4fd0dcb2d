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
  /** The id of its token, or the name of a caller without one. */
  readonly id: string
  /** The id of the member that owns its token. */
  readonly member: string | undefined
  /** Set if the token is bound to one agent. */
  readonly agentId: string | undefined
}

export function reaches(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

/** The name of a caller that signed in with a login link. */
export const LOGIN = 'login'

/** A caller without a token: a part of the gateway, or what it lets in another way. */
export function callerWithoutToken(tenant: string, name: string, role: Role = 'agent'): Caller {
  return { tenant, role, master: false, name, id: name, member: undefined, agentId: undefined }
}

/** The caller on the unix socket without a token. Node cannot verify the peer's user id, so it may only dispatch. */
export function localCaller(tenant: string): Caller {
  return callerWithoutToken(tenant, 'socket')
}
