import { createCipheriv, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { recorder } from '../../testing/recorder.ts'
import { createSecrets, isEncrypted, type Keyring } from './secret.ts'

const refused = (code: string) => expect.objectContaining({ name: 'HookError', code })
const place = { table: 'hooks', row: 'h1', column: 'headers' }
const [a, b] = [
  { id: '2026-01', key: randomBytes(32) },
  { id: '2026-02', key: randomBytes(32).toString('hex') },
]
const secrets = createSecrets({ current: a })

/** A value as other gateways of this family write it: no key id, bound to nothing. */
function foreign(plain: string, key: Uint8Array): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return `aes-gcm:${sealed.toString('base64')}`
}

/** Changes the bytes behind the key id. */
function tampered(stored: string, change: (sealed: Buffer) => Buffer): string {
  const at = stored.lastIndexOf(':') + 1
  return stored.slice(0, at) + change(Buffer.from(stored.slice(at), 'base64')).toString('base64')
}

describe('encrypting', () => {
  test('any text comes back, and never looks like itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        const stored = secrets.encrypt(plain, place)
        expect(isEncrypted(stored)).toBe(true)
        expect(secrets.decrypt(stored, place)).toBe(plain)
        if (plain.length > 8) expect(stored).not.toContain(plain)
      }),
    )
  })

  test('GC-97 values without a key id are read, with any key of the ring', () => {
    const ring = createSecrets({ current: b, others: [a] })
    expect(ring.decrypt(foreign('Bearer x', a.key), place)).toBe('Bearer x')
    expect(() => createSecrets({ current: b }).decrypt(foreign('x', a.key), place)).toThrow(
      refused('secret.unreadable'),
    )
  })

  test.each([
    ['64 hex digits', (key: Buffer) => key.toString('hex')],
    ['upper case', (key: Buffer) => key.toString('hex').toUpperCase()],
    ['44 base64 characters', (key: Buffer) => key.toString('base64')],
    ['32 bytes', (key: Buffer) => key],
  ])('GC-97 a key as %s', (_, write) => {
    const key = randomBytes(32)
    expect(createSecrets({ current: { id: 'k', key: write(key) } }).decrypt(foreign('x', key), place)).toBe(
      'x',
    )
  })

  test('GC-97 a key as 32 characters', () => {
    const text = 'correct horse battery staple! 32'
    const ring = createSecrets({ current: { id: 'k', key: text } })
    expect(ring.decrypt(foreign('x', Buffer.from(text)), place)).toBe('x')
  })

  test.each(['', 'short', 'g'.repeat(64), 'A'.repeat(43), 'é'.repeat(32), randomBytes(31), randomBytes(33)])(
    'no other key is taken, and the message does not show it: %#',
    (key) => {
      expect(() => createSecrets({ current: { id: 'k', key } })).toThrow(refused('secret.key'))
      expect(() => createSecrets({ current: { id: 'k', key } })).toThrow('key k is not 32 bytes long')
    },
  )

  test.each<Keyring>([
    { current: { ...a, id: '' } },
    { current: { ...a, id: 'a:b' } },
    { current: a, others: [{ ...b, id: a.id }] },
  ])('key ids are simple and differ: %#', (ring) => {
    expect(() => createSecrets(ring)).toThrow(refused('secret.key'))
  })
})

describe('a value that was touched cannot be read', () => {
  const stored = secrets.encrypt('hunter2', place)

  test.each([
    ['one bit', (sealed: Buffer) => sealed.fill((sealed[14] ?? 0) ^ 1, 14, 15)],
    ['the nonce', (sealed: Buffer) => sealed.fill(0, 0, 12)],
    ['a tag of 4 bytes', (sealed: Buffer) => sealed.subarray(0, -12)],
    ['a tag of 15 bytes', (sealed: Buffer) => sealed.subarray(0, -1)],
    ['one byte more', (sealed: Buffer) => Buffer.concat([sealed, Buffer.alloc(1)])],
    ['nothing', () => Buffer.alloc(0)],
  ])('4.11 #152 %s', (_, change) => {
    expect(() => secrets.decrypt(tampered(stored, change), place)).toThrow(refused('secret.unreadable'))
  })

  test('4.11 #152 wrong key, unknown key id, no ciphertext at all', () => {
    const wrong = createSecrets({ current: { id: a.id, key: randomBytes(32) } })
    expect(() => wrong.decrypt(stored, place)).toThrow(refused('secret.unreadable'))
    expect(() => createSecrets({ current: b }).decrypt(stored, place)).toThrow(refused('secret.unreadable'))
    expect(() => secrets.decrypt('hunter2', place)).toThrow(refused('secret.unreadable'))
    expect(() => secrets.decrypt('aes-gcm:', place)).toThrow(refused('secret.unreadable'))
  })

  test.each([
    { ...place, table: 'users' },
    { ...place, row: 'h2' },
    { ...place, column: 'url' },
    { table: 'hook', row: 's","h1', column: 'headers' },
  ])('a value moved to another table, row or column: %j', (other) => {
    expect(() => secrets.decrypt(stored, other)).toThrow(refused('secret.unreadable'))
  })

  test('a value without its key id is no foreign one', () => {
    expect(() => secrets.decrypt(stored.replace(`${a.id}:`, ''), place)).toThrow(refused('secret.unreadable'))
  })
})

describe('keys', () => {
  test('4.11 #151 without a key nothing is read or written', () => {
    const none = createSecrets(undefined)
    expect(() => none.decrypt(secrets.encrypt('x', place), place)).toThrow(refused('secret.no_key'))
    expect(() => none.encrypt('x', place)).toThrow(refused('secret.no_key'))
  })

  test('4.11 #154 a rotation cut short reads both keys, and running it again finishes', () => {
    const rows = [secrets.encrypt('one', place), foreign('two', a.key), secrets.encrypt('three', place)]
    const ring = createSecrets({ current: b, others: [a] })
    const half = [ring.renew(rows[0] ?? '', place) ?? '', ...rows.slice(1)]
    expect(half.map((row) => ring.decrypt(row, place))).toEqual(['one', 'two', 'three'])
    const all = half.map((row) => ring.renew(row, place) ?? row)
    expect(all[0]).toBe(half[0])
    expect(all.map((row) => ring.renew(row, place))).toEqual([undefined, undefined, undefined])
    const alone = createSecrets({ current: b })
    expect(all.map((row) => alone.decrypt(row, place))).toEqual(['one', 'two', 'three'])
  })

  test('4.11 #155 a hundred thousand nonces all differ', () => {
    const nonces = new Set<string>()
    const start = `aes-gcm:${a.id}:`.length
    // 12 bytes are 16 characters of base64.
    for (let i = 0; i < 100_000; i++) nonces.add(secrets.encrypt('', place).slice(start, start + 16))
    expect(nonces.size).toBe(100_000)
  })

  test('4.11 #155 a worn key is told once, well before it is spent; a spent one encrypts no more', () => {
    const { lines, log } = recorder()
    const worn = createSecrets({ current: a }, { log, used: { [a.id]: 2 ** 31 - 2 } })
    for (let i = 0; i < 3; i++) worn.encrypt('x', place)
    expect(lines).toEqual([{ name: 'secret.key_worn', fields: { key: a.id, used: 2 ** 31 } }])
    expect(worn.used()).toEqual({ [a.id]: 2 ** 31 + 1 })
    const spent = createSecrets({ current: a }, { used: { [a.id]: 2 ** 32 } })
    expect(() => spent.encrypt('x', place)).toThrow(refused('secret.key'))
    expect(spent.decrypt(secrets.encrypt('x', place), place)).toBe('x')
  })
})
