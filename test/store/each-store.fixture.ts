import { afterAll, beforeAll, describe } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { openPostgres } from './postgres.fixture.ts'
import type { OpenStoreUnderTest, StoreUnderTest } from './samples.fixture.ts'
import { openSqlite } from './sqlite.fixture.ts'

/** The tests of a store operation, once for each database. `npm run test:quick` leaves PostgreSQL out. */
export function onEachStore(title: string, tests: (open: OpenStoreUnderTest) => void): void {
  describe(`${title} on SQLite`, () => tests(openSqlite))
  if (process.env.QUICK === undefined) describe(`${title} on PostgreSQL`, () => tests(openPostgres))
}

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
