import type { Log } from '../../engine/core/sink.ts'
import { sqlStore } from '../sql/sql-store.ts'
import { storedSecrets } from '../sql/stored-secrets.ts'
import type { Remote, WorkerStart } from './call.ts'
import { openDatabase } from './open-database.ts'
import { unmarkOpen } from './open-mark.ts'
import { createSerial } from './serial.ts'
import { sqliteDb } from './sqlite-db.ts'

/** The store as the worker has it. */
export async function openRemote({ file, keyring }: WorkerStart, log: Log): Promise<Remote> {
  const { database, kysely } = await openDatabase(file)
  const serial = createSerial()
  const db = await sqliteDb({ database, kysely, serial }, (system) => storedSecrets(system, keyring, log))
  const { flush, ...methods } = await sqlStore(db)
  const ask = database.prepare('select 1')
  return {
    ...methods,
    async ping() {
      ask.get()
    },
    async close() {
      // What cannot be written now is only a count; the log keeps everything else.
      await flush().catch(() => {})
      // Behind whatever is under way.
      await serial.runNow(() => {
        unmarkOpen(file)
        database.close()
      })
    },
  }
}
