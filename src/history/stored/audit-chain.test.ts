import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { event, newTenant, otherKeyring, type StoreUnderTest } from '../../../test/store/samples.fixture.ts'

/** Six rows in one chain. */
async function recorded(database: StoreUnderTest): Promise<string> {
  const tenant = await newTenant(database.store)
  for (const n of [1, 2, 3])
    await database.store.recordEvents([event(tenant, { event_id: `e${n}`, hooks: [{}, {}] })], [], [])
  // Into rows, by this node and in its chain.
  await database.store.holdsSealed()
  return tenant
}

const attacks: readonly [what: string, statements: readonly string[], seq: number][] = [
  ['an edited decision', [`update hook_executions set decision = 'block' where seq = 3`], 3],
  ['an edited error', [`update hook_executions set error = 'x' where seq = 6`], 6],
  ['an edited time', ['update hook_executions set created_at = created_at + 1 where seq = 1'], 1],
  ...[
    ['id', `'0193a5b0-7000-7000-8000-0000000000fd'`],
    ['tenant_id', `'0193a5b0-7000-7000-8000-0000000000fd'`],
    ['event_id', `'another'`],
    ['event', `'stop'`],
    ['handler_type', `'script'`],
    ['session_id', `'another'`],
    ['agent_id', `'another'`],
    ['input_hash', `'00'`],
    ['duration_ms', 'duration_ms + 1'],
    ['retry', 'retry + 1'],
    ['dedup_key', `'another'`],
    ['code', `'handler.error'`],
    ['error_detail', `'x'`],
    ['shadow', 'not shadow'],
  ].map(([column, value]): [string, string[], number] => [
    `an edited ${column}`,
    [`update hook_executions set ${column} = ${value} where seq = 3`],
    3,
  ]),
  ['edited metadata', [`update hook_executions set metadata = '{"a":1}' where seq = 2`], 2],
  ['a deleted row', ['delete from hook_executions where seq = 4'], 4],
  ['the first row deleted', ['delete from hook_executions where seq = 1'], 1],
  ['the last row deleted', ['delete from hook_executions where seq = 6'], 6],
  ['every row deleted', ['delete from hook_executions'], 1],
  [
    'two rows swapped',
    [
      'update hook_executions set seq = 99 where seq = 2',
      'update hook_executions set seq = 2 where seq = 3',
      'update hook_executions set seq = 3 where seq = 99',
    ],
    2,
  ],
  ['a row inserted behind the end', [copied('chain', '7')], 7],
  ['a row inserted before the beginning', [copied('chain', '0')], 0],
  ['a row of a chain that was never begun', [copied(`'0193a5b0-7000-7000-8000-0000000000ff'`, '1')], 1],
  [
    'the end moved with a deleted row',
    ['delete from hook_executions where seq = 6', 'update audit_chains set head_seq = 5'],
    0,
  ],
  [
    'the beginning moved with a deleted row',
    ['delete from hook_executions where seq = 1', 'update audit_chains set base_seq = 1'],
    1,
  ],
  [
    'a gap that nobody vouches for',
    [
      `insert into audit_gaps (chain, from_seq, to_seq, link, mac) select chain, seq, seq, mac, mac from hook_executions where seq = 3`,
      'delete from hook_executions where seq = 3',
    ],
    3,
  ],
  ['the chain itself deleted', ['delete from audit_chains'], 1],
]

/** The tables that attacks change. */
const attacked = ['hook_executions', 'audit_chains', 'audit_gaps']

function copied(chain: string, seq: string): string {
  const same = `tenant_id, event_id, event, handler_type, input_hash, decision, duration_ms, retry, shadow, metadata, created_at`
  return `insert into hook_executions (id, dedup_key, chain, seq, mac, ${same})
    select '0193a5b0-7000-7000-8000-0000000000fe', 'forged', ${chain}, ${seq}, mac, ${same}
    from hook_executions where seq = 6`
}

onEachStore('the audit chain', (open) => {
  test('what was written verifies, on every node, while others write', async () => {
    const database = await open()
    try {
      const tenant = await recorded(database)
      expect(await database.store.verifyAudit()).toEqual({ checked: 6 })
      const other = await database.reopen()
      await other.recordEvents([event(tenant, { hooks: [{}] })], [], [])
      await recorded(database)
      expect(await other.verifyAudit()).toEqual({ checked: 13 })
      expect(await database.store.verifyAudit()).toEqual({ checked: 13 })
    } finally {
      await database.dispose()
    }
  })

  describe('that somebody edits', () => {
    const at = shareStore(open)
    beforeAll(async () => {
      await recorded(at.database)
      for (const table of attacked)
        await at.database.execute(`create table saved_${table} as select * from ${table}`)
    })
    // Each attack is undone: a database of its own for each would take longer than all of them.
    afterEach(async () => {
      const given = at.store.dialect === 'postgres' ? 'overriding system value' : ''
      for (const table of attacked) {
        await at.database.execute(`delete from ${table}`)
        await at.database.execute(`insert into ${table} ${given} select * from saved_${table}`)
      }
    })

    test.each(attacks)('4.11 #158 %s is found, and where', async (_, statements, seq) => {
      expect(await at.store.verifyAudit()).toEqual({ checked: 6 })
      for (const statement of statements) await at.database.execute(statement)
      const { broken } = await at.store.verifyAudit()
      expect(broken).toMatchObject({ seq, chain: expect.any(String), why: expect.any(String) })
    })
  })

  test('4.11 #158 a whole chain that vanished before another is found', async () => {
    const database = await open()
    try {
      await recorded(database)
      const other = await database.reopen()
      const tenant = await newTenant(other)
      await other.recordEvents([event(tenant, { hooks: [{}] })], [], [])
      // Into rows, by this node and in its chain.
      await other.holdsSealed()
      await database.execute(
        'delete from hook_executions where chain = (select chain from audit_chains where ordinal = 1)',
      )
      await database.execute('delete from audit_chains where ordinal = 1')
      expect((await other.verifyAudit()).broken).toMatchObject({ seq: 0 })
    } finally {
      await database.dispose()
    }
  })

  test('without the key of a chain nobody says that it holds', async () => {
    const database = await open()
    try {
      await recorded(database)
      const other = await database.reopen(otherKeyring)
      expect((await other.verifyAudit()).broken).toMatchObject({ why: expect.stringContaining('key') })
    } finally {
      await database.dispose()
    }
  })

  test('more rows than a page verify', async () => {
    const database = await open()
    try {
      const tenant = await newTenant(database.store)
      for (let n = 0; n < 6; n++)
        await database.store.recordEvents(
          Array.from({ length: 100 }, () => event(tenant, { hooks: [{}, {}] })),
          [],
          [],
        )
      expect(await database.store.verifyAudit()).toEqual({ checked: 1_200 })
      await database.execute(`update hook_executions set error = 'x' where seq = 1100`)
      expect((await database.store.verifyAudit()).broken).toMatchObject({ seq: 1_100 })
    } finally {
      await database.dispose()
    }
  })
})
