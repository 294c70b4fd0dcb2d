import { expect, test } from 'vitest'
import { OTHER_TENANT, OWN_TENANT, startGateway } from '../../../../test/gateway/gateway.fixture.ts'
import { openWs } from '../../../../test/gateway/ws-client.fixture.ts'
import type { ExecutionRow } from '../../../history/audit-tables.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'

function row(id: string, tenant = OWN_TENANT): ExecutionRow {
  return { id, tenant_id: tenant, hook_id: null, session_id: null, metadata: {} as object } as ExecutionRow
}

test('executions arrive as they are recorded, with the cursor to go on from', async () => {
  const clock = fakeClock()
  const gateway = await startGateway({ clock })
  gateway.store.executions.push(row('before'))
  const client = await openWs(gateway.url, gateway.token)
  await client.next()
  const answer = await client.call('executions.tail', {})
  expect(answer).toMatchObject({ ok: true, payload: { subscription: expect.any(String), cursor: '1' } })
  gateway.store.executions.push(row('1'), row('foreign', OTHER_TENANT), row('2'))
  gateway.recorded()
  // The first of a page carries the cursor the page began with: nothing is lost by going on from it.
  expect(await client.next()).toMatchObject({
    type: 'event',
    event: 'execution',
    payload: { id: '1' },
    cursor: '1',
  })
  expect(await client.next()).toMatchObject({ payload: { id: '2' }, cursor: '3' })
  // Written on another node: no hint, but a look every second.
  gateway.store.executions.push(row('3'))
  await clock.advance(1_000)
  expect(await client.next()).toMatchObject({ payload: { id: '3' }, cursor: '4' })
})

test('a tail goes on from a cursor, and ends when told to', async () => {
  const gateway = await startGateway()
  for (let id = 0; id < 250; id += 1) gateway.store.executions.push(row(String(id)))
  const client = await openWs(gateway.url, gateway.token)
  await client.next()
  const { payload } = await client.call('executions.tail', { cursor: '10' })
  for (let id = 10; id < 250; id += 1)
    expect(await client.next()).toMatchObject({ payload: { id: String(id) } })
  const { subscription } = payload as { subscription: string }
  expect(await client.call('executions.untail', { subscription })).toMatchObject({ ok: true })
  gateway.store.executions.push(row('late'))
  gateway.recorded()
  expect(await client.call('executions.untail', { subscription })).toMatchObject({
    error: { code: 'NOT_FOUND', details: { code: 'gateway.not_found' } },
  })
})

test('a store that fails is asked again from the same place', async () => {
  const clock = fakeClock()
  const gateway = await startGateway({ clock })
  const client = await openWs(gateway.url, gateway.token)
  await client.next()
  await client.call('executions.tail', {})
  const { tail } = gateway.store
  gateway.store.tail = () => Promise.reject(new Error('gone'))
  gateway.store.executions.push(row('1'))
  await clock.advance(1_000)
  expect(gateway.logged).toMatchObject([{ name: 'gateway.tail_failed' }])
  gateway.store.tail = tail
  await clock.advance(1_000)
  expect(await client.next()).toMatchObject({ payload: { id: '1' } })
})

test('a connection has at most eight', async () => {
  const gateway = await startGateway()
  const client = await openWs(gateway.url, gateway.token)
  await client.next()
  for (let count = 0; count < 8; count += 1)
    expect(await client.call('executions.tail', {})).toMatchObject({ ok: true })
  expect(await client.call('executions.tail', {})).toMatchObject({
    error: { details: { code: 'gateway.request' } },
  })
})

test('any subscription of the table is served, and only its own method ends it', async () => {
  const gateway = await startGateway()
  const client = await openWs(gateway.url, gateway.token)
  const hello = await client.next()
  expect(hello.payload).toMatchObject({ methods: expect.arrayContaining(['things.feed', 'things.unfeed']) })
  const { payload } = await client.call('things.feed', {})
  const { subscription } = payload as { subscription: string }
  gateway.store.executions.push(row('1'))
  gateway.recorded()
  expect(await client.next()).toMatchObject({ event: 'thing', subscription, payload: { id: '1' } })
  expect(await client.call('executions.untail', { subscription })).toMatchObject({
    error: { code: 'NOT_FOUND' },
  })
  expect(await client.call('things.unfeed', { subscription })).toMatchObject({ payload: { subscription } })
})
