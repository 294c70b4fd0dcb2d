import { v5, validate } from 'uuid'

/** The UUID of an agent. A name always means the same one within a tenant, and never one of another tenant. */
export function agentId(tenant: string, nameOrId: string): string {
  return validate(nameOrId) ? nameOrId.toLowerCase() : v5(nameOrId, tenant)
}
