/** A separate process that uses a database and may be killed: `node store-child.fixture.ts <task> <file> [argument]`. */
import { appendFileSync, statSync, writeSync } from 'node:fs'
import { removeWalMarker } from '../../src/database/sqlite/wal-marker.ts'
import { isHookError } from '../../src/engine/core/errors/error.ts'
import { methodsOf, operationNames } from '../../src/store/sql-store.ts'
import { openDatabase } from '../../src/store/sqlite/open-database.ts'
import { openWorkerStore } from '../../src/store/sqlite/sqlite-database.ts'
import type { Store } from '../../src/store/store.ts'
import { event, keyring, NOON, newTenant } from './samples.fixture.ts'

const [what = '', file = '', argument = ''] = process.argv.slice(2)
const say = (text: string) => writeSync(1, `${text}\n`)
const open = async (): Promise<Store> => {
  const { perform } = await openWorkerStore({ file, keyring }, () => {})
  return {
    ...methodsOf(operationNames, perform),
    ping: async () => void (await perform('ping', [])),
    close: async () => void (await perform('close', [])),
    dialect: 'sqlite',
    onHint: () => () => {},
    onRunHint: () => () => {},
    onApprovalHint: () => () => {},
  }
}
// Like sqlite-store.ts: SQLite closes the file even if the process ends without `close`.
process.once('exit', () => removeWalMarker(file))

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  /** Kills itself after the first statement of a step. */
  async 'die migrating'() {
    await openDatabase(file, (step) => {
      if (step === argument) process.kill(process.pid, 'SIGKILL')
    })
  },
  /** Opens when as many processes are ready as the argument says, and closes when all of them have opened. */
  async migrate() {
    waitForAll(`${file}.ready`)
    const store = await open().finally(() => appendFileSync(`${file}.opened`, '.'))
    // The last store that closes removes the log, which a store that opens just then would miss.
    waitForSize(`${file}.opened`)
    await store.close()
    say('migrated')
  },
  /** Commits an event and dies without closing. */
  async 'record and die'() {
    const store = await open()
    const tenant = await newTenant(store)
    await store.recordEvents([event(tenant, { time: NOON, hooks: [{}] })], [], [])
    say(tenant)
    process.kill(process.pid, 'SIGKILL')
  },
  /** Records events until the file can no longer grow. */
  async 'fill up'() {
    const store = await open()
    const tenant = await newTenant(store)
    let written = 0
    const request = 'x'.repeat(20_000)
    try {
      for (; written < 500; written++)
        await store.recordEvents([event(tenant, { event_id: `e${written}`, request, hooks: [{}] })], [], [])
      say('never full')
    } catch (error) {
      say(isHookError(error) ? error.code : String(error))
    }
    say(`${tenant} ${written}`)
  },
  /** As a user who may read the file but not write it. */
  async 'without the right to write'() {
    if (process.getuid?.() === 0) process.setuid?.(65_534)
    try {
      const store = await open()
      await newTenant(store)
      say('written')
    } catch (error) {
      say(isHookError(error) ? error.code : String(error))
    }
  },
}

await tasks[what]?.()

function waitForAll(path: string): void {
  appendFileSync(path, '.')
  waitForSize(path)
}

function waitForSize(path: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  while (statSync(path).size < Number(argument)) Atomics.wait(pause, 0, 0, 1)
}
