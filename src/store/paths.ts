/** Where sealed texts stand. Whoever seals or opens a text outside of the store names its place by these. */
export interface Place {
  readonly table: string
  readonly row: string
  readonly column: string
}

export function secretPlace(tenant: string, name: string): Place {
  return { table: 'secrets', row: `${tenant}/${name}`, column: 'sealed' }
}

export function providerKeyPlace(tenant: string, name: string): Place {
  return { table: 'providers', row: `${tenant}/${name}`, column: 'sealed_key' }
}

/** A text inside the config of a hook, found by its JSON pointer: `/headers/authorization`. */
export function hookConfigPlace(hookId: string, pointer: string): Place {
  return { table: 'agent_hooks', row: hookId, column: `config${pointer}` }
}

export function eventPlace(tenant: string, eventId: string, column: 'request' | 'answer'): Place {
  return { table: 'events', row: `${tenant}/${eventId}`, column }
}

export function errorDetailPlace(executionId: string): Place {
  return { table: 'hook_executions', row: executionId, column: 'error_detail' }
}

export function payloadPlace(deliveryId: string): Place {
  return { table: 'deliveries', row: deliveryId, column: 'payload' }
}

export function answerPlace(tenant: string, key: string): Place {
  return { table: 'idempotency', row: `${tenant}/${key}`, column: 'answer' }
}

export function journalPlace(id: string): Place {
  return { table: 'audit_journal', row: id, column: 'sealed' }
}

export function chainKeyPlace(chain: string): Place {
  return { table: 'audit_chains', row: chain, column: 'sealed_key' }
}
