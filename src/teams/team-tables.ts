import { columns, type RowOf, table } from '../database/table.ts'

const { nullable, number, sealedJson, tenantId, text } = columns

export type Content = Readonly<Record<string, unknown>>

/** Definitions are sealed: they may hold headers, and addresses that are secrets. */
export const namedColumns = {
  tenant_id: tenantId(),
  name: text(),
  definition: sealedJson(),
  created_at: number(),
  updated_at: number(),
}
export const teams = table('teams', namedColumns, { key: ['tenant_id', 'name'] })
/** A team or an environment. */
export type NamedRow = RowOf<typeof teams>

/** A message in the mailbox of a member of a team. */
export const mailboxMessages = table(
  'mailbox_messages',
  {
    tenant_id: tenantId(),
    message_id: text(),
    team: text(),
    member: text(),
    firing_id: nullable(text()),
    /** Sender, summary and text. */
    content: sealedJson(),
    created_at: number(),
    read_at: nullable(number()),
  },
  {
    key: ['tenant_id', 'message_id'],
    indexes: [
      'mailbox_by_time (tenant_id, created_at, message_id)',
      'mailbox_of_member (tenant_id, team, member, created_at, message_id)',
      'mailbox_to_prune (created_at)',
      // The messages and the cause of a firing are looked up whenever the firing is shown.
      'mailbox_of_firing (tenant_id, firing_id, created_at, message_id) where firing_id is not null',
    ],
    expiry: [{ where: 'created_at < :before', order: 'created_at', keep: 'history' }],
  },
)
export type MailboxRow = RowOf<typeof mailboxMessages>

/** A second message with the same id is not stored. */
export type NewMailboxMessage = Omit<MailboxRow, 'tenant_id' | 'content' | 'created_at' | 'read_at'> & {
  readonly content: Content
}
