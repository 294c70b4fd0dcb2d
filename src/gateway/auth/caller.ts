import { type Role, roles } from '../../store/stores/tenant-store.ts'

/** Who asks, as the door found out. */
export interface Caller {
  /** Whose rows it works on. */
  readonly tenant: string
  readonly role: Role
  /** Its token belongs to the master tenant: it may make global hooks and work for any tenant. */
  readonly master: boolean
  /** The name of its token, kept with what it changes. */
  readonly name: string
  /** A token bound to one agent speaks for that agent only. */
  readonly agentId: string | undefined
}

export function reaches(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

/** Whoever may open the file is the user themselves; node cannot ask the kernel who it is, so they may only dispatch. */
export function localCaller(tenant: string): Caller {
  return { tenant, role: 'agent', master: false, name: 'socket', agentId: undefined }
}
