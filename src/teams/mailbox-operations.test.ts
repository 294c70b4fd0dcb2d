import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { firing, message, NOON, newTenant } from '../../test/store/samples.fixture.ts'

const _definition = {
  trigger: { event: 'run_finish' },
  actions: [{ type: 'notify_team' }],
  text: 'ä\0\ud800',
}

onEachStore('mail', (open) => {
  const at = shareStore(open)

  describe('mailboxes', () => {
    test('a message is stored once with its deliveries, listed newest first, read and deleted', async () => {
      const tenant = await newTenant(at.store)
      const { store } = at
      const [first, second] = [message({ member: 'a' }), message({ member: 'b' })]
      const work = { ...firing(tenant).delivery, kind: `team-${tenant}` }
      await store.postMessages(tenant, [first], [work], NOON)
      await store.postMessages(tenant, [first, second], [work], NOON + 1)
      expect((await store.listDeliveries(tenant, {}, { limit: 9 })).rows).toHaveLength(1)
      const { rows } = await store.listMailbox(tenant, {}, { limit: 9 })
      expect(rows).toEqual([
        { ...second, tenant_id: tenant, created_at: NOON + 1, read_at: null },
        { ...first, tenant_id: tenant, created_at: NOON, read_at: null },
      ])
      expect(
        (await store.listMailbox(tenant, { team: 'mesh', member: 'a' }, { limit: 9 })).rows,
      ).toHaveLength(1)
      const page = await store.listMailbox(tenant, {}, { limit: 1 })
      const next = await store.listMailbox(tenant, {}, { limit: 1, cursor: page.nextCursor })
      expect([page.rows[0]?.message_id, next.rows[0]?.message_id, next.nextCursor]).toEqual([
        ...[second.message_id, first.message_id, ''],
      ])
      expect(await store.markRead(tenant, [first.message_id, 'none'], NOON + 2)).toBe(1)
      expect(await store.markRead(tenant, [first.message_id])).toBe(0)
      expect(await store.findMessage(tenant, first.message_id)).toMatchObject({ read_at: NOON + 2 })
      expect((await store.listMailbox(tenant, { unread: true }, { limit: 9 })).rows).toMatchObject([second])
      const ofFiring = message({ firing_id: 'f1' })
      await store.postMessages(tenant, [ofFiring], [], NOON + 3)
      expect((await store.listMailbox(tenant, { firing_id: 'f1' }, { limit: 9 })).rows).toMatchObject([
        ofFiring,
      ])
      expect(await store.deleteMessage(tenant, first.message_id)).toBe(true)
      expect(await store.deleteMessage(tenant, first.message_id)).toBe(false)
    })

    test('go with their team', async () => {
      const tenant = await newTenant(at.store)
      await at.store.saveTeam(tenant, { name: 'mesh', definition: {} }, true)
      await at.store.postMessages(tenant, [message(), message({ team: 'other' })], [])
      await at.store.deleteTeam(tenant, 'mesh')
      expect((await at.store.listMailbox(tenant, {}, { limit: 9 })).rows).toMatchObject([{ team: 'other' }])
    })
  })
})
