import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { newTenant } from '../../../test/store/samples.fixture.ts'
import { openSqlite } from '../../../test/store/sqlite.fixture.ts'

test('while another process has the write lock, reads are answered and writes wait for it', async () => {
  const { store, file, dispose } = await openSqlite()
  const other = new DatabaseSync(file, { timeout: 60_000 })
  other.exec('begin immediate')
  let isWritten = false
  const write = newTenant(store).then((tenant) => {
    isWritten = true
    return tenant
  })
  expect(await store.findToken(new Uint8Array(32))).toBeUndefined()
  expect(isWritten).toBe(false)
  other.exec('rollback')
  other.close()
  await write
  await dispose()
})
