import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact } from './redact.ts'
import { newToken } from './token.ts'

// Put together here so that no scanner takes them for real ones.
const secret = ['abcdefgh', '12345678', 'IJKLMNOP'].join('')

describe('secrets', () => {
  test.each([
    ['mail to jane.doe+x@mail.example.com now', 'mail to [REDACTED] now'],
    [`Authorization: Bearer ${secret}`, 'Authorization: [REDACTED]'],
    [`bearer ${secret}, again`, '[REDACTED], again'],
    [`key sk-${secret} refused`, 'key [REDACTED] refused'],
  ])('GC-95 %s', (text, shown) => {
    expect(redact(text)).toBe(shown)
  })

  test.each([
    [
      `GET https://x.example/v1?api_key=${secret}&page=2`,
      'GET https://x.example/v1?api_key=[REDACTED]&page=2',
    ],
    [`https://x.example/a?sig=${secret}#f`, 'https://x.example/a?sig=[REDACTED]#f'],
    [`postgres://admin:${secret}@db.example.com/main`, 'postgres://admin:[REDACTED]@db.example.com/main'],
    [`https://${secret}@x.example/`, 'https://[REDACTED]@x.example/'],
    [`{"password": "${secret}", "n": 1}`, '{"password": "[REDACTED]", "n": 1}'],
    [`X-Api-Key: ${secret}`, 'X-Api-Key: [REDACTED]'],
    [`ghp_${secret}`, '[REDACTED]'],
    [`whsec_${secret}/+==`, '[REDACTED]'],
    [newToken(), '[REDACTED]'],
    [`eyJ${secret}.${secret}.${secret}`, '[REDACTED]'],
    [`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\nend`, '[REDACTED] end'],
    [`-----BEGIN EC PRIVATE KEY-----\n${secret}\n${secret}`, '[REDACTED]'],
  ])('4.11 #156 %j', (text, shown) => {
    expect(redact(text)).toBe(shown)
    expect(redact(text)).not.toContain(secret)
  })

  test.each([
    ['an escape sequence', `sk-abcd\u001b[0m${secret}`],
    ['a zero width space', `sk-abcd\u200b${secret}`],
    ['NUL', `sk-abcd\u0000${secret}`],
  ])('4.11 #156 %s inside does not hide a secret from us', (_, text) => {
    expect(redact(text)).toBe('[REDACTED]')
  })

  test.each(['used 500 tokens', 'task-1234567890', 'exit code 2 at /tmp/a@b', 'key=value in a text'])(
    'harmless text stays: %s',
    (text) => {
      expect(redact(text)).toBe(text)
    },
  )
})

describe('one line that fits', () => {
  test('4.4 #58 control characters and colours are gone, line breaks become blanks', () => {
    const text = ' \u001b[1;31mboom\u001b[0m\r\n{"level":"info"}\t\u0007\u009b\u202e\u001b]0;title\u0007end '
    expect(redact(text)).toBe('boom {"level":"info"} end')
  })

  test('GC-95 no more than 256 bytes, cut between two characters', () => {
    expect(redact('x'.repeat(900))).toHaveLength(256)
    expect(redact(`${'x'.repeat(255)}é`)).toBe('x'.repeat(255))
    expect(redact(`${'x'.repeat(253)}\u{1F980}`)).toBe('x'.repeat(253))
    expect(redact(`${'x'.repeat(252)}\u{1F980}y`)).toBe(`${'x'.repeat(252)}\u{1F980}`)
  })

  test('GC-95 what is redacted is redacted before it is cut', () => {
    expect(redact(`${'x'.repeat(240)} Bearer ${secret}`)).not.toContain(secret.slice(0, 4))
  })

  test('for any text: one line, within the limit, whole characters, and always an answer', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.integer({ min: 1, max: 300 }),
        (text, max) => {
          const line = redact(text, max)
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(max)
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
          expect(line.isWellFormed()).toBe(true)
        },
      ),
    )
  })

  test.each(['a', 'a@', 'a.', '@a.', '://a', '\u001b[', '\u001b]', 'bearer ', '?key=', ' '])(
    'a million times %j is no trap',
    (part) => {
      expect(Buffer.byteLength(redact(part.repeat(1_000_000)))).toBeLessThanOrEqual(256)
    },
  )
})
