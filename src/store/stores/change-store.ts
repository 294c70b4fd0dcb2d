/** The kinds of stored things, apart from events, whose changes callers can follow. */
export const storedKinds = [
  'hooks',
  'deliveries',
  'tokens',
  'secrets',
  'providers',
  'settings',
  'budget',
  'agents',
  'tenants',
  'approvals',
  'rules',
  'firings',
  'teams',
  'mailbox',
  'environments',
] as const

export type StoredKind = (typeof storedKinds)[number]

/** One mark per kind. A mark that differs from an earlier one says that something of the kind has changed. */
export type ChangeMarks = Readonly<Record<StoredKind, string>>

export interface ChangeStore {
  /**
   * The marks of what the tenant has, and of what the gateway has for all tenants: global hooks, its settings, and the list
   * of tenants. They are counts, times and versions, and no content. A mark considers the
   * latest 200 deliveries, messages and firings.
   */
  readChangeMarks(tenant: string): Promise<ChangeMarks>
}
