import { v5, validate } from 'uuid'

/** The UUID of an agent. Within a tenant a name always gives the same id; other tenants get other ids. */
export function agentId(tenant: string, nameOrId: string): string {
  return validate(nameOrId) ? nameOrId.toLowerCase() : v5(nameOrId, tenant)
}
