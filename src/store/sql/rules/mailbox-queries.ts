import { ruleContentPath } from '../../paths.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { MailboxRow, RuleStore } from '../../stores/rule-store.ts'
import { sealDelivery } from '../audit/audit-group.ts'
import { pageFromRows, readTextCursor } from '../page-cursor.ts'
import type { CountSealed } from '../runs/run-queries.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import { openContent, sealContent } from './sealed-content.ts'

type MailboxQueries = Pick<
  RuleStore,
  'postMessages' | 'listMailbox' | 'findMessage' | 'markRead' | 'deleteMessage'
>

export function mailboxQueries(db: SqlDatabase, countSealed: CountSealed): MailboxQueries {
  return {
    async postMessages(tenant, messages, deliveries, given) {
      await db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        for (const { content, ...message } of messages)
          await trx
            .insertInto('mailbox_messages')
            .values({
              ...{ tenant_id: tenant, ...message, created_at: now, read_at: null },
              content: sealContent(db.secrets, content, pathOf(tenant, message.message_id)),
            })
            .onConflict((conflict) => conflict.columns(['tenant_id', 'message_id']).doNothing())
            .execute()
        await insertDeliveries(db, trx, { deliveries, now })
      })
      await countSealed(messages.length + deliveries.length)
    },

    listMailbox: (tenant, { team, member, unread, firing_id }, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readTextCursor(cursor) : undefined
        const rows = await trx
          .selectFrom('mailbox_messages')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .$if(team !== undefined, (query) => query.where('team', '=', team ?? ''))
          .$if(member !== undefined, (query) => query.where('member', '=', member ?? ''))
          .$if(unread !== undefined, (query) => query.where('read_at', unread ? 'is' : 'is not', null))
          .$if(firing_id !== undefined, (query) => query.where('firing_id', '=', firing_id ?? ''))
          .$if(from !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple('created_at', 'message_id'), '<', eb.tuple(from?.time ?? 0, from?.key ?? '')),
            ),
          )
          .orderBy('created_at', 'desc')
          .orderBy('message_id', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.message_id }))
        return { ...page, rows: page.rows.map((row) => readMessage(db, row)) }
      }),

    findMessage: (tenant, messageId) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('mailbox_messages')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('message_id', '=', messageId)
          .executeTakeFirst()
        return row && readMessage(db, row)
      }),

    markRead: (tenant, messageIds, now) =>
      db.tenant(tenant, async (trx) => {
        if (messageIds.length === 0) return 0
        const rows = await trx
          .updateTable('mailbox_messages')
          .set({ read_at: db.codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('message_id', 'in', messageIds)
          .where('read_at', 'is', null)
          .returning('message_id')
          .execute()
        return rows.length
      }),

    deleteMessage: (tenant, messageId) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('mailbox_messages')
          .where('tenant_id', '=', tenant)
          .where('message_id', '=', messageId)
          .returning('message_id')
          .executeTakeFirst()
        return deleted !== undefined
      }),
  }
}

function pathOf(tenant: string, messageId: string) {
  return ruleContentPath('mailbox_messages', tenant, messageId)
}

function readMessage({ secrets }: SqlDatabase, row: Tables['mailbox_messages']): MailboxRow {
  return { ...row, content: openContent(secrets, row.content, pathOf(row.tenant_id, row.message_id)) }
}

/** Queues work in the transaction of what caused it. Existing dedup keys stay as they are. */
export async function insertDeliveries(
  { secrets }: SqlDatabase,
  trx: QueryBuilder,
  { deliveries, now }: { readonly deliveries: readonly NewDelivery[]; readonly now: number },
): Promise<void> {
  for (const delivery of deliveries) {
    const { due_at, ...sealed } = sealDelivery(secrets, delivery)
    await trx
      .insertInto('deliveries')
      .values({
        ...sealed,
        due_at: due_at ?? now,
        ...{ state: 'waiting', attempts: 0, lease: null, last_error: null, updated_at: delivery.created_at },
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
}
