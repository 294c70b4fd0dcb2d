import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connection } from './connection.ts'

const home = mkdtempSync(join(tmpdir(), 'hookhelm-connection-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const own = join(home, 'admin-token')
writeFileSync(own, 'hh_local\n', { mode: 0o600 })
const env = { HOOKHELM_HOME: home }

describe('where the gateway is and what opens its door', () => {
  test('the one on this machine, with its own token', () => {
    expect(connection({}, env)).toEqual({
      ...{ url: 'http://127.0.0.1:4665', token: 'hh_local', proven: true },
    })
  })

  test('wherever it listens, as long as it runs and is on this machine', () => {
    const address = join(home, 'address')
    const told = (text: string) => {
      writeFileSync(address, text, { mode: 0o600 })
      return connection({}, env).url
    }
    expect(told(`http://127.0.0.1:4799 ${process.pid}\n`)).toBe('http://127.0.0.1:4799')
    expect(told('http://127.0.0.1:4799 999999999\n')).toBe('http://127.0.0.1:4665')
    expect(told(`https://hooks.example ${process.pid}\n`)).toBe('http://127.0.0.1:4665')
    expect(told('')).toBe('http://127.0.0.1:4665')
    rmSync(address)
  })

  test('the environment stands over that, the command line over both', () => {
    const told = { ...env, HOOKHELM_URL: 'https://hooks.example', HOOKHELM_TOKEN: 'hh_env' }
    expect(connection({}, told)).toEqual({ url: 'https://hooks.example', token: 'hh_env' })
    expect(connection({ url: 'http://localhost:1', tokenFile: own }, told)).toEqual({
      url: 'http://localhost:1',
      token: 'hh_local',
      proven: true,
    })
  })

  test('the token of this machine is never sent to another', () => {
    for (const url of ['https://hooks.example', 'http://127.0.0.1.evil.example', 'nonsense'])
      expect(() => connection({ url }, env)).toThrow(expect.objectContaining({ code: 'auth.token' }))
  })

  test('a token file that others can read is refused', () => {
    const open = join(home, 'open')
    writeFileSync(open, 'hh_open')
    chmodSync(open, 0o644)
    expect(() => connection({ tokenFile: open }, env)).toThrow(/chmod 600/)
    expect(() => connection({ tokenFile: join(home, 'none') }, env)).toThrow(
      expect.objectContaining({ code: 'auth.token' }),
    )
  })

  test('before the first start it says how to start', () => {
    expect(() => connection({}, { HOOKHELM_HOME: join(home, 'empty') })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('hookhelm up') }),
    )
  })
})
