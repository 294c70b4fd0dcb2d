import { expect, test } from 'vitest'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { createSessionFolders } from './session-folders.ts'

const name = { tenant: 't', agent: 'robot', session: 's' }

function setUp() {
  const rows = new Map<string, string>()
  let isDown = false
  let calls = 0
  const store = {
    async keepSessionFolder(tenant: string, session: string, folder: string | undefined) {
      calls += 1
      if (isDown) throw serverError('store.unavailable', 'gone')
      const key = `${tenant} ${session}`
      const start = rows.get(key) ?? folder
      if (start !== undefined) rows.set(key, start)
      return start
    },
  }
  const clock = fakeClock()
  return {
    rows,
    clock,
    calls: () => calls,
    open: () => createSessionFolders(store, clock),
    fail: (on: boolean) => {
      isDown = on
    },
  }
}

test('a session keeps the folder in which it began, whatever folder comes later, also for the next process', async () => {
  const { open, calls } = setUp()
  const first = open()
  expect(await first.startOf(name, '/repo')).toBe('/repo')
  expect(await first.startOf(name, '/elsewhere')).toBe('/repo')
  expect(await first.startOf(name, '/')).toBe('/repo')
  expect(calls()).toBe(1)
  const next = open()
  expect(await next.startOf(name, '/')).toBe('/repo')
  expect(await open().startOf(name, '/elsewhere')).toBe('/repo')
})

test('sessions of other tenants and agents with the same id are different', async () => {
  const { open } = setUp()
  const folders = open()
  await folders.startOf(name, '/repo')
  expect(await folders.startOf({ ...name, tenant: 'u' }, '/u')).toBe('/u')
  expect(await folders.startOf({ ...name, agent: 'other' }, '/')).toBe('/')
})

test('a session without a folder gets the first one that it names', async () => {
  const { open } = setUp()
  const folders = open()
  expect(await folders.startOf(name, '/')).toBe('/')
  expect(await folders.startOf(name, '/repo')).toBe('/repo')
  expect(await open().startOf(name, '/')).toBe('/repo')
})

test('a session in use is marked once an hour, so that pruning leaves it, and a pruned one is stored again', async () => {
  const { open, rows, clock, calls } = setUp()
  const folders = open()
  await folders.startOf(name, '/repo')
  rows.clear()
  clock.stall(3_600_000)
  expect(await folders.startOf(name, '/elsewhere')).toBe('/repo')
  expect(calls()).toBe(2)
  expect([...rows.values()]).toEqual(['/repo'])
})

test('a store that cannot tell where a session began rejects, and a session in memory goes on', async () => {
  const { open, clock, fail } = setUp()
  const folders = open()
  await folders.startOf(name, '/repo')
  fail(true)
  clock.stall(3_600_000)
  expect(await folders.startOf(name, '/elsewhere')).toBe('/repo')
  await expect(open().startOf(name, '/elsewhere')).rejects.toMatchObject({ code: 'store.unavailable' })
})
