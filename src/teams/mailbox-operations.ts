import { sql } from 'kysely'
import { inTenant, inTenantAt } from '../database/operation.ts'
import { find, insert, type PageRequest, page, removeRow, update } from '../database/rows.ts'
import { insertDelivery } from '../deliveries/delivery-operations.ts'
import type { NewDelivery } from '../deliveries/delivery-table.ts'
import type { MailboxFilter } from './team-methods.ts'
import { mailboxMessages, type NewMailboxMessage } from './team-tables.ts'

export const mailboxOperations = {
  /** Stores messages and the deliveries that carry them further, all or nothing. Existing ids stay as they are. */
  postMessages: inTenantAt(
    async (
      tx,
      tenant: string,
      messages: readonly NewMailboxMessage[],
      deliveries: readonly NewDelivery[],
    ) => {
      const now = await tx.time()
      for (const message of messages)
        await insert(tx, mailboxMessages, { tenant_id: tenant, ...message, created_at: now }, 'keep')
      for (const delivery of deliveries) await insertDelivery(tx, delivery, now)
    },
  ),

  /** Newest first. */
  listMailbox: inTenant((tx, tenant: string, { unread, ...filter }: MailboxFilter, request: PageRequest) =>
    page(tx, mailboxMessages, {
      ...request,
      match: { tenant_id: tenant, ...filter },
      and: unread === undefined ? [] : [unread ? sql`read_at is null` : sql`read_at is not null`],
      by: ['created_at', 'message_id'],
    }),
  ),

  findMessage: inTenant((tx, tenant: string, messageId: string) =>
    find(tx, mailboxMessages, { tenant_id: tenant, message_id: messageId }),
  ),

  /** Returns how many were unread. */
  markRead: inTenantAt(async (tx, tenant: string, messageIds: readonly string[]) => {
    if (messageIds.length === 0) return 0
    const unread = { tenant_id: tenant, read_at: null }
    const among = [sql`message_id in (${sql.join(messageIds)})`]
    return (await update(tx, mailboxMessages, unread, { read_at: tx.now() }, among)).length
  }),

  deleteMessage: inTenant((tx, tenant: string, messageId: string) =>
    removeRow(tx, mailboxMessages, { tenant_id: tenant, message_id: messageId }),
  ),
}
