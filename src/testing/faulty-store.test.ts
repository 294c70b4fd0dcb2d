import { expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { failBySeed, failMethods, failNth, faultyStore, type StoreCall } from './faulty-store.ts'

function counting() {
  let done = 0
  const real = {
    dialect: 'sqlite',
    ping: async () => void done++,
    holdsSealed: async () => {
      done++
      return true
    },
    onHint: () => () => {},
    close: async () => {},
  } as unknown as Store
  return { ...faultyStore(real), done: () => done }
}

const unavailable = { code: 'store.unavailable' }

test('nothing fails without a plan, and every call is counted', async () => {
  const { store, calls, faults } = counting()
  await store.ping()
  expect(await store.holdsSealed()).toBe(true)
  await store.close()
  expect(store.dialect).toBe('sqlite')
  expect(calls()).toEqual([
    { n: 1, method: 'ping' },
    { n: 2, method: 'holdsSealed' },
  ])
  expect(faults()).toBe(0)
})

test('a call fails before it was done, or after', async () => {
  const { store, plan, done } = counting()
  plan(failNth(2, 'before'))
  await store.ping()
  await expect(store.ping()).rejects.toMatchObject(unavailable)
  expect(done()).toBe(1)
  plan(failNth(1, 'after', ['holdsSealed']))
  await store.ping()
  await expect(store.holdsSealed()).rejects.toMatchObject(unavailable)
  expect(done()).toBe(3)
  expect(await store.holdsSealed()).toBe(true)
})

test('a call that is stuck goes on when it is released', async () => {
  const { store, plan, release, done } = counting()
  plan(failMethods(['ping'], 'stuck'))
  let isOver = false
  const pinged = store.ping().then(() => (isOver = true))
  await store.holdsSealed()
  expect(isOver).toBe(false)
  expect(done()).toBe(1)
  release()
  await pinged
  expect(done()).toBe(2)
})

test('the same seed fails the same calls, and about as many as it should', () => {
  const call: StoreCall = { n: 1, method: 'ping' }
  const outcomes = (seed: number) => {
    const plan = failBySeed(seed, 0.25)
    return Array.from({ length: 1_000 }, () => plan(call))
  }
  expect(outcomes(7)).toEqual(outcomes(7))
  expect(outcomes(7)).not.toEqual(outcomes(8))
  const failed = outcomes(7).filter((fault) => fault !== undefined)
  expect(failed.length).toBeGreaterThan(200)
  expect(failed.length).toBeLessThan(300)
  expect(new Set(failed)).toEqual(new Set(['before', 'after']))
})
