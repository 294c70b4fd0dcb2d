import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { delivery, firing, hook, message, NOON, newTenant } from '../../test/store/samples.fixture.ts'
import { MASTER_TENANT, OWNER_MEMBER } from '../access/tenant-tables.ts'
import type { Store } from '../store/store.ts'
import { type ChangeMarks, type StoredKind, storedKinds } from './change-marks.ts'

type Change = (store: Store, tenant: string) => Promise<unknown>

const token = (tenant_id: string) => ({
  id: randomUUID(),
  tenant_id,
  member_id: OWNER_MEMBER,
  name: 'ci',
  role: 'viewer' as const,
  agent_id: null,
  created_at: NOON,
  expires_at: null,
  hash: randomBytes(32),
})
const provider = (tenant_id: string) => ({
  tenant_id,
  name: 'openai',
  base_url: null,
  default_model: null,
  sealed_key: null,
  updated_at: NOON,
})
/** A change of each kind that only its tenant sees. */
const changes: readonly (readonly [kind: StoredKind, title: string, change: Change])[] = [
  ['hooks', 'a new hook', (store, tenant) => store.createHook(hook(tenant), NOON)],
  [
    'deliveries',
    'a queued delivery',
    (store, tenant) => store.recordEvents([], [delivery(tenant, 'hook')], [], NOON),
  ],
  ['tokens', 'a new token', (store, tenant) => store.createToken(token(tenant))],
  [
    'secrets',
    'a new secret',
    (store, tenant_id) =>
      store.putSecret({ tenant_id, name: 'KEY', sealed: 'aes-gcm:k1:one', updated_at: NOON }),
  ],
  ['providers', 'a new provider', (store, tenant) => store.putProvider(provider(tenant))],
  [
    'settings',
    'a changed setting',
    (store, tenant) => store.writeSettings(tenant, { retention_days: 3 }, NOON),
  ],
  ['budget', 'a changed budget', (store, tenant) => store.setBudget(tenant, 700, NOON)],
  [
    'agents',
    'a report of the doctor',
    (store, tenant_id) => store.putAgentReport({ tenant_id, agent: 'codex', report: {}, reported_at: NOON }),
  ],
  ['teams', 'a new team', (store, tenant) => store.saveTeam(tenant, { name: 't', definition: {} }, true)],
  ['mailbox', 'a message', (store, tenant) => store.postMessages(tenant, [message()], [], NOON)],
  [
    'environments',
    'a new environment',
    (store, tenant) => store.saveEnvironment(tenant, { name: 'e', definition: {} }, true),
  ],
]

onEachStore('marks of changes', (open) => {
  const at = shareStore(open)
  const differences = (before: ChangeMarks, after: ChangeMarks) =>
    storedKinds.filter((kind) => before[kind] !== after[kind])

  test.each(changes)('%s: %s changes the mark of its kind, for its tenant only', async (kind, _, change) => {
    const [tenant, other] = [await newTenant(at.store), await newTenant(at.store)]
    const before = await at.store.readChangeMarks(tenant)
    const others = await at.store.readChangeMarks(other)
    await change(at.store, tenant)
    expect(differences(before, await at.store.readChangeMarks(tenant))).toEqual([kind])
    expect(differences(others, await at.store.readChangeMarks(other))).toEqual([])
  })

  test('rules and firings change their marks, with every step of an action and every message that is read', async () => {
    const tenant = await newTenant(at.store)
    let before = await at.store.readChangeMarks(tenant)
    const changedBy = async (change: Promise<unknown>) => {
      await change
      const after = await at.store.readChangeMarks(tenant)
      const kinds = differences(before, after)
      before = after
      return kinds
    }
    const rule = { rule_id: 'r', definition: {}, enabled: true, created_by: null }
    // The version of definitions, which hooks share, tells other nodes to load the rules again.
    expect(await changedBy(at.store.createRule(tenant, rule, NOON))).toEqual(['hooks', 'rules'])
    expect(await changedBy(at.store.updateRule(tenant, 'r', { enabled: false }, NOON))).toEqual([
      'hooks',
      'rules',
    ])
    expect(await changedBy(at.store.deleteRule(tenant, 'r'))).toEqual(['hooks', 'rules'])
    const fired = firing(tenant)
    const { firing_id } = fired
    expect(await changedBy(at.store.fireRule(fired, NOON))).toEqual(['deliveries', 'firings'])
    expect(await changedBy(at.store.startAction(tenant, firing_id, 0, NOON))).toEqual(['firings'])
    const end = { position: 0, status: 'skipped', reason: null, detail: null, run_id: null } as const
    expect(await changedBy(at.store.endAction(tenant, firing_id, end, NOON))).toEqual(['firings'])
    const sent = message()
    expect(await changedBy(at.store.postMessages(tenant, [sent], [], NOON))).toEqual(['mailbox'])
    expect(await changedBy(at.store.markRead(tenant, [sent.message_id], NOON))).toEqual(['mailbox'])
    expect(await changedBy(at.store.deleteMessage(tenant, sent.message_id))).toEqual(['mailbox'])
  })

  test('global hooks, settings of the gateway and a new tenant change the marks of every tenant', async () => {
    const tenant = await newTenant(at.store)
    const before = await at.store.readChangeMarks(tenant)
    const { id } = await at.store.createHook(hook(MASTER_TENANT, { scope: 'global' }), NOON)
    await at.store.writeSettings(MASTER_TENANT, { retention_days: 4 }, NOON + 1)
    await newTenant(at.store)
    const after = await at.store.readChangeMarks(tenant)
    expect(differences(before, after)).toEqual(['hooks', 'settings', 'tenants'])
    await at.store.deleteHook(MASTER_TENANT, id)
    expect(differences(after, await at.store.readChangeMarks(tenant))).toEqual(['hooks'])
  })

  test('reading changes no mark, and a tenant that does not exist has empty ones', async () => {
    const tenant = await newTenant(at.store)
    await at.store.readBudget(tenant, 100, NOON)
    const before = await at.store.readChangeMarks(tenant)
    await at.store.readBudget(tenant, 100, NOON + 1)
    await at.store.listHooks(tenant)
    expect(await at.store.readChangeMarks(tenant)).toEqual(before)
    expect(Object.values(await at.store.readChangeMarks('no id')).join('')).toBe('')
  })
})
