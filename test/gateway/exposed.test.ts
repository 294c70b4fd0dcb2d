import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { running } from './running.fixture.ts'

test('4.10 #137 the network waits until somebody has made a token', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-exposed-'))
  const listen = { host: '0.0.0.0', port: 0 }
  await expect(running({ home, listen })).rejects.toMatchObject({ code: 'gateway.exposed' })
  const token = `own-${'t'.repeat(40)}`
  writeFileSync(join(home, 'admin-token'), token, { mode: 0o600 })
  const gateway = await running({ home, listen })
  expect(gateway.token).toBe(token)
})
