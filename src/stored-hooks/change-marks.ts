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
