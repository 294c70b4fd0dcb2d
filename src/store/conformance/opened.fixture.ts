import { afterAll, beforeAll } from 'vitest'
import type { Store } from '../store.ts'
import type { Opened, OpenStore } from './samples.fixture.ts'

/** One database for the tests of a group; each uses tenants of its own. */
export function opened(open: OpenStore): { readonly store: Store; readonly database: Opened } {
  let database: Opened | undefined
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database?.dispose())
  const get = () => {
    if (database === undefined) throw new TypeError('the tests have not begun')
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
