import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { runChild } from '../../../test/store/run-child.fixture.ts'
import { event, keyring, newTenant } from '../../../test/store/samples.fixture.ts'
import { databasePath } from '../../../test/store/sqlite.fixture.ts'
import { openSqliteStore } from './sqlite-store.ts'

const PAGE = 4_096

/** A database of about so many kilobytes, closed. */
async function written(kib: number) {
  const file = databasePath()
  const store = await openSqliteStore({ file, keyring })
  const tenant = await newTenant(store)
  const request = 'x'.repeat(32 * 1_024)
  for (let size = 0; size < kib; size += 44 * 10)
    await store.recordEvents(
      Array.from({ length: 10 }, () => event(tenant, { request, hooks: [{}] })),
      [],
      [],
    )
  // In rows, as a store is that had time.
  await store.holdsSealed()
  await store.close()
  return { file, tenant }
}

function overwrite(file: string, from: number, bytes: number): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, from)
  closeSync(handle)
}

async function refused(file: string): Promise<void> {
  const before = existsSync(file) ? readFileSync(file) : undefined
  await expect(openSqliteStore({ file, keyring })).rejects.toMatchObject({
    code: 'store.corrupt',
    hint: expect.stringContaining('backup'),
  })
  expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before)
}

const damages: readonly [what: string, damage: (file: string) => void][] = [
  [
    'text',
    (file) => writeFileSync(file, 'this is not a database, but it is long enough to be one '.repeat(100)),
  ],
  ['a damaged header', (file) => overwrite(file, 0, 16)],
  ['a damaged schema', (file) => overwrite(file, 100, 200)],
  ['a damaged page', (file) => overwrite(file, PAGE * 5, PAGE)],
  ['half of the file', (file) => truncateSync(file, Math.floor(statSync(file).size / PAGE / 2) * PAGE)],
  [
    'the database of another program',
    (file) => {
      rmSync(file)
      const other = new DatabaseSync(file)
      other.exec('create table notes (text)')
      other.close()
    },
  ],
]

test.each(damages)('4.9 #125 %s is refused and never written over', async (_, damage) => {
  const { file } = await written(300)
  damage(file)
  await refused(file)
})

test('4.9 #125 a lost write-ahead log is noticed', async () => {
  const file = databasePath()
  const { lines } = await runChild('record and die', file)
  expect(lines).toHaveLength(1)
  rmSync(`${file}-wal`)
  await refused(file)
})

test.each(['emptied', 'removed'])(
  '4.9 #125 a file that was %s while its log is there is not begun afresh',
  async (how) => {
    const file = databasePath()
    await runChild('record and die', file)
    if (how === 'emptied') truncateSync(file)
    else rmSync(file)
    await refused(file)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  },
)

test('4.9 #119 what was committed before a kill is there, and a clean close leaves one file', async () => {
  const file = databasePath()
  const { lines, signal } = await runChild('record and die', file)
  expect(signal).toBe('SIGKILL')
  const store = await openSqliteStore({ file, keyring })
  expect((await store.history(lines[0] ?? '', {}, { limit: 9 })).rows).toHaveLength(1)
  expect(await store.verifyAudit()).toEqual({ checked: 1 })
  await store.close()
  expect([`${file}-wal`, `${file}-shm`, `${file}-open`].filter((path) => existsSync(path))).toEqual([])
  // A copy of that one file is a backup.
  const copy = join(dirname(file), 'copy.db')
  writeFileSync(copy, readFileSync(file))
  const restored = await openSqliteStore({ file: copy, keyring })
  expect(await restored.verifyAudit()).toEqual({ checked: 1 })
  await restored.close()
})

test('4.9 #125 damage in a large file is found when it is read, and every call says so', async () => {
  const { file, tenant } = await written(12_000)
  const { size } = statSync(file)
  overwrite(file, 60 * PAGE, size - 60 * PAGE)
  const history = async () => {
    const store = await openSqliteStore({ file, keyring })
    try {
      for (let cursor = ''; ; ) {
        const page = await store.history(tenant, {}, { limit: 50, ...(cursor ? { cursor } : {}) })
        if (page.nextCursor === '') return await store.verifyAudit()
        cursor = page.nextCursor
      }
    } finally {
      await store.close()
    }
  }
  await expect(history()).rejects.toMatchObject({ code: 'store.corrupt' })
})

test('4.9 #123 a full disk is an error with a code, and loses nothing acknowledged', async () => {
  const file = databasePath()
  const { lines } = await runChild('fill up', file, { fileKib: 2_048 })
  const [code, counted = ''] = lines
  expect(code).toBe('store.unavailable')
  // What the journal took and the disk had no room to turn into rows is there as soon as it has.
  const store = await openSqliteStore({ file, keyring })
  expect((await store.verifyAudit()).broken).toBeUndefined()
  const [tenant = '', written] = counted.split(' ')
  const ids = Array.from({ length: Number(written) }, (_, index) => `e${index}`)
  const found = await Promise.all(ids.map((id) => store.findEvent(tenant, id)))
  expect(found.filter((row) => row === undefined)).toEqual([])
  expect(found.length).toBeGreaterThan(10)
  await store.close()
})

test('4.9 #123 a file that may only be read is an error with a code', async () => {
  const { file } = await written(50)
  chmodSync(file, 0o444)
  chmodSync(dirname(file), 0o555)
  const { lines } = await runChild('without the right to write', file)
  chmodSync(dirname(file), 0o755)
  expect(lines).toEqual(['store.unavailable'])
})

test('a directory that is not there is an error with a code', async () => {
  const file = join(dirname(databasePath()), 'nowhere', 'hookhelm.db')
  await expect(openSqliteStore({ file, keyring })).rejects.toMatchObject({ code: 'store.unavailable' })
  mkdirSync(dirname(file))
  await expect(openSqliteStore({ file: dirname(file), keyring })).rejects.toMatchObject({
    code: 'store.unavailable',
  })
})

test('the file is for nobody else', async () => {
  const { file } = await written(50)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('4.9 #123 a lock that another process keeps is an error with a code', async () => {
  const { file } = await written(50)
  const store = await openSqliteStore({ file, keyring })
  const other = new DatabaseSync(file)
  other.exec('begin immediate')
  await expect(newTenant(store)).rejects.toMatchObject({ code: 'store.unavailable' })
  other.exec('rollback')
  other.close()
  await expect(newTenant(store)).resolves.toBeDefined()
  await store.close()
})
