import type { SealedPath } from '../safe/secrets/secret.ts'

/** The path of each sealed text. Encryption binds a text to its path, so code that seals or opens one must agree on it. */
export function secretPath(tenant: string, name: string): SealedPath {
  return { table: 'secrets', row: `${tenant}/${name}`, column: 'sealed' }
}

export function providerKeyPath(tenant: string, name: string): SealedPath {
  return { table: 'providers', row: `${tenant}/${name}`, column: 'sealed_key' }
}

/** A text inside the config of a hook, by its JSON pointer: `/headers/authorization`. */
export function hookConfigPath(hookId: string, pointer: string): SealedPath {
  return { table: 'agent_hooks', row: hookId, column: `config${pointer}` }
}

export function eventPath(tenant: string, eventId: string, column: 'request' | 'answer'): SealedPath {
  return { table: 'events', row: `${tenant}/${eventId}`, column }
}

export function errorDetailPath(executionId: string): SealedPath {
  return { table: 'hook_executions', row: executionId, column: 'error_detail' }
}

export function deliveryPayloadPath(deliveryId: string): SealedPath {
  return { table: 'deliveries', row: deliveryId, column: 'payload' }
}

export function keptAnswerPath(tenant: string, key: string): SealedPath {
  return { table: 'idempotency', row: `${tenant}/${key}`, column: 'answer' }
}

export function journalEntryPath(id: string): SealedPath {
  return { table: 'audit_journal', row: id, column: 'sealed' }
}

export function chainKeyPath(chain: string): SealedPath {
  return { table: 'audit_chains', row: chain, column: 'sealed_key' }
}
