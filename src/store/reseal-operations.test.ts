import { expect, test } from 'vitest'
import { onEachStore } from '../../test/store/each-store.fixture.ts'
import {
  delivery,
  event,
  firing,
  hook,
  keyring,
  message,
  NOON,
  newRun,
  newRunner,
  newTenant,
  rotated,
  runEvent,
  type StoreUnderTest,
} from '../../test/store/samples.fixture.ts'
import { hookConfigPath, providerKeyPath, secretPath } from '../database/sealed-paths.ts'
import { createSecrets } from '../safe/secrets/secret.ts'
import type { SealedCell } from '../secrets/secret-tables.ts'
import type { Store } from './store.ts'

/** Everything that can be sealed, sealed under the first key. */
async function filled({ store }: StoreUnderTest) {
  const secrets = createSecrets(keyring)
  const tenant = await newTenant(store)
  const seal = (plain: string, place: Parameters<typeof secrets.encrypt>[1]) => secrets.encrypt(plain, place)
  const plain = hook(tenant)
  const config = {
    url: 'https://example.com',
    headers: { 'a/b~c': seal('header', hookConfigPath(plain.id, '/headers/a~1b~0c')), plain: 'x' },
    secrets: [seal('signing', hookConfigPath(plain.id, '/secrets/0'))],
  }
  await store.createHook({ ...plain, config }, NOON)
  await store.putSecret({
    tenant_id: tenant,
    name: 'n/1',
    sealed: seal('secret', secretPath(tenant, 'n/1')),
    updated_at: 1,
  })
  await store.putProvider({
    tenant_id: tenant,
    name: 'p',
    base_url: null,
    default_model: null,
    sealed_key: seal('provider', providerKeyPath(tenant, 'p')),
    updated_at: 1,
  })
  await store.recordEvents(
    [
      event(tenant, { event_id: 'e/1', request: 'request', hooks: [{ error_detail: 'detail' }, {}] }),
      event(tenant, { event_id: 'e/2' }),
    ],
    [delivery(tenant, 'k', { payload: 'payload' })],
    [{ tenant, key: 'k', request_hash: 'h', answer: 'answer', keep_ms: 1 }],
    NOON,
  )
  const run = await store.createRun(
    newRun(tenant, { run_id: 'run/1', parameters: { text: 'original' } }),
    { hostname: null, executor_profile: null },
    NOON,
  )
  const { runner_id } = await store.registerRunner(newRunner(tenant), NOON)
  const taken = await store.takeRun({ tenant, runner_id, needsHooks: ['writer'], lease_ms: 9, now: NOON })
  const prepared = { lease: taken?.lease ?? '', parameters: { text: 'changed' }, now: NOON }
  await store.endPreparation(tenant, run.run_id, prepared)
  const failed = { report: 'ended', status: 'failed', error: 'error', block_reason: 'reason' } as const
  await store.reportRun(tenant, run.run_id, null, failed, NOON)
  await store.appendRunEvents([runEvent(run, { event_id: 'v/1', data: { text: 'data' } })])
  const definition = { text: 'rule' }
  await store.createRule(tenant, { rule_id: 'r/1', definition, enabled: true, created_by: null }, NOON)
  await store.saveTeam(tenant, { name: 't', definition: { text: 'team' } }, true)
  await store.saveEnvironment(tenant, { name: 'e', definition: { text: 'environment' } }, true)
  await store.postMessages(tenant, [message({ message_id: 'm/1', content: { text: 'message' } })], [])
  const { actions, ...fired } = firing(tenant, { firing_id: 'f/1', content: { text: 'firing' } })
  await store.fireRule({ ...fired, actions: actions.map((action) => ({ ...action, enabled: false })) }, NOON)
  // Into rows, by this node and with its key.
  await store.holdsSealed()
  return { tenant, hookId: plain.id }
}

/** One page of a change of keys; `during` may end it in the middle. */
async function renewPage(store: Store, limit: number, after?: SealedCell): Promise<SealedCell | undefined> {
  const secrets = createSecrets(rotated)
  const cells = await store.sealedUnderOtherKeys('k2', limit, after)
  await store.resealCells(
    cells.map((cell) => ({ cell, sealed: secrets.renew(cell.sealed, cell) ?? cell.sealed })),
  )
  return cells.at(-1)
}

async function readable(store: Store, { tenant, hookId }: { tenant: string; hookId: string }) {
  const secrets = createSecrets(rotated)
  const { rows } = await store.history(tenant, {}, { limit: 9 })
  const details = await Promise.all(rows.map((row) => store.errorDetail(tenant, row.id)))
  const config = (await store.findHook(tenant, hookId))?.config as {
    headers: Record<string, string>
    secrets: string[]
  }
  const [secret] = await store.listSecrets(tenant)
  const [provider] = await store.listProviders(tenant)
  const run = await store.findRun(tenant, 'run/1')
  const { rows: events } = await store.tailRunEvents(tenant, { after: '0', limit: 9 })
  return [
    (await store.findEvent(tenant, 'e/1'))?.request,
    details.find((detail) => detail !== undefined),
    (await store.findAnswer(tenant, 'k', NOON))?.answer,
    secrets.decrypt(secret?.sealed ?? '', secretPath(tenant, 'n/1')),
    secrets.decrypt(provider?.sealed_key ?? '', providerKeyPath(tenant, 'p')),
    secrets.decrypt(config.headers['a/b~c'] ?? '', hookConfigPath(hookId, '/headers/a~1b~0c')),
    secrets.decrypt(config.secrets[0] ?? '', hookConfigPath(hookId, '/secrets/0')),
    ...[run?.parameters?.text, run?.original_parameters?.text, run?.error, run?.block_reason],
    events[0]?.data?.text,
    (await store.findRule(tenant, 'r/1'))?.definition?.text,
    (await store.findTeam(tenant, 't'))?.definition?.text,
    (await store.findEnvironment(tenant, 'e'))?.definition?.text,
    (await store.findMessage(tenant, 'm/1'))?.content?.text,
    (await store.findFiring(tenant, 'f/1'))?.content?.text,
  ]
}

const everything = [
  ...['request', 'detail', 'answer', 'secret', 'provider', 'header', 'signing'],
  ...['changed', 'original', 'error', 'reason', 'data'],
  ...['rule', 'team', 'environment', 'message', 'firing'],
]

onEachStore('a change of keys', (open) => {
  const on = async (work: (database: StoreUnderTest) => Promise<void>) => {
    const database = await open()
    try {
      await work(database)
    } finally {
      await database.dispose()
    }
  }

  test('an empty database holds nothing sealed', () =>
    on(async ({ store }) => {
      expect(await store.holdsSealed()).toBe(false)
      const tenant = await newTenant(store)
      const config = { a: 'aes-gcm:k1:x' }
      await store.createHook(hook(tenant, { config }), NOON)
      expect(await store.holdsSealed()).toBe(true)
    }))

  test('every sealed text is found and renewed; then none is left, and the audit still holds', () =>
    on(async (database) => {
      const what = await filled(database)
      const node = await database.reopen(rotated)
      expect(await node.sealedUnderOtherKeys('k1', 100)).toEqual([])
      const cells = await node.sealedUnderOtherKeys('k2', 100)
      // Config 2, secret, provider, two events with two texts each, answer, payload, detail, key of the chain, run 4,
      // event of the run, and one each of rules, teams, environments, mailboxes and firings.
      expect(cells).toHaveLength(22)
      expect(await readable(node, what)).toEqual(everything)
      const { cursor } = await node.definitionChanges()
      await renewPage(node, 100)
      expect(await node.sealedUnderOtherKeys('k2', 100)).toEqual([])
      expect((await node.definitionChanges(cursor)).changed.map((change) => change.tenant)).toEqual([
        what.tenant,
      ])
      const { current } = rotated
      const alone = await database.reopen({ current })
      expect(await readable(alone, what)).toEqual(everything)
      expect(await alone.verifyAudit()).toEqual({ checked: 2 })
      const claim = { kinds: ['k'], limit: 9, now: NOON, lease_ms: 9, worker: 'w' }
      expect((await alone.claimDeliveries(claim)).map((row) => row.payload)).toEqual(['payload'])
    }))

  test('4.11 #154 interrupted at any page, both keys read, and running it again finishes', () =>
    on(async (database) => {
      const what = await filled(database)
      const node = await database.reopen(rotated)
      for (let pages = 0; pages < 30; pages++) {
        expect(await readable(node, what)).toEqual(everything)
        if ((await renewPage(node, 1)) === undefined) break
      }
      expect(await node.sealedUnderOtherKeys('k2', 100)).toEqual([])
      expect(await readable(await database.reopen({ current: rotated.current }), what)).toEqual(everything)
    }))

  test('pages behind a cell pass over what cannot be renewed, each cell once', () =>
    on(async (database) => {
      await filled(database)
      const { store } = database
      const whole = await store.sealedUnderOtherKeys('k2', 100)
      for (const limit of [1, 3, 5]) {
        const seen: SealedCell[] = []
        for (;;) {
          const page = await store.sealedUnderOtherKeys('k2', limit, seen.at(-1))
          seen.push(...page)
          if (page.length === 0) break
        }
        expect(seen).toEqual(whole)
      }
    }))

  test('a cell that changed meanwhile stays as it is', () =>
    on(async (database) => {
      const { tenant } = await filled(database)
      const { store } = database
      const cells = await store.sealedUnderOtherKeys('k2', 100)
      await store.putSecret({ tenant_id: tenant, name: 'n/1', sealed: 'aes-gcm:k2:new', updated_at: 2 })
      const secret = cells.filter((cell) => cell.table === 'secrets')
      const config = cells
        .filter((cell) => cell.table === 'agent_hooks')
        .map((cell) => ({ ...cell, sealed: 'aes-gcm:k1:other' }))
      const nowhere = { table: 'tenants', row: tenant, column: 'name', sealed: 'x' }
      expect(
        await store.resealCells([...secret, ...config, nowhere].map((cell) => ({ cell, sealed: 'y' }))),
      ).toBe(0)
      expect((await store.listSecrets(tenant))[0]?.sealed).toBe('aes-gcm:k2:new')
    }))
})
