/** Another program with the write lock of an SQLite file: `lock-holder.ts <file> <milliseconds>`. */
import { DatabaseSync } from 'node:sqlite'

const [file = '', ms = ''] = process.argv.slice(2)
const database = new DatabaseSync(file, { timeout: 60_000 })
database.exec('begin immediate')
process.send?.('locked')
setTimeout(() => {
  database.exec('rollback')
  database.close()
  process.disconnect?.()
}, Number(ms))
