import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { keyring, type Opened } from '../conformance/samples.fixture.ts'
import type { Store } from '../store.ts'
import { openSqliteStore } from './sqlite-store.ts'

/** A fresh directory with a database in it. */
export async function openSqlite(): Promise<Opened & { readonly file: string }> {
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
