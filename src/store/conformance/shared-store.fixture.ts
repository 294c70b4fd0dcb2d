import { afterAll, beforeAll } from 'vitest'
import type { Store } from '../store.ts'
import type { OpenStoreUnderTest, StoreUnderTest } from './samples.fixture.ts'

/** Opens one database for a group of tests, which use separate tenants. */
export function shareStore(open: OpenStoreUnderTest): {
  readonly store: Store
  readonly database: StoreUnderTest
} {
  let database: StoreUnderTest | undefined
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database?.dispose())
  const get = () => {
    if (database === undefined) throw new TypeError('the store is only open while tests run')
    return database
  }
  return {
    get store() {
      return get().store
    },
    get database() {
      return get()
    },
  }
}
