import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { keyring, type StoreUnderTest } from './samples.fixture.ts'

/** Opens a store in a fresh directory. */
export async function openSqlite(): Promise<StoreUnderTest & { readonly file: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'hookhelm-store-'))
  const file = join(directory, 'hookhelm.db')
  const store = await openSqliteStore({ file, keyring })
  const stores: Store[] = [store]
  return {
    file,
    store,
    async reopen(other = keyring) {
      const again = await openSqliteStore({ file, keyring: other })
      stores.push(again)
      return again
    },
    async execute(text) {
      await store.holdsSealed()
      const database = new DatabaseSync(file, { timeout: 60_000 })
      try {
        return database.prepare(text).all()
      } finally {
        database.close()
      }
    },
    async dispose() {
      await Promise.all(stores.map((one) => one.close()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A path for a database, in a directory that is removed after the test. */
export function databasePath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookhelm-store-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'hookhelm.db')
}
