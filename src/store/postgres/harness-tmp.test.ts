import { expect, test } from 'vitest'
import { freshDatabase } from '../../../test/postgres/database.ts'
test('x', async () => {
  const t=performance.now()
  const db = await freshDatabase()
  console.log(performance.now()-t)
  expect((await db.query('select version(), current_setting($1) f', ['fsync']))[0]).toMatchObject({ f: 'on' })
  const db2 = await freshDatabase()
  console.log(performance.now()-t)
})
