import { describe, expect, test } from 'vitest'
import { readInstant } from './read-instant.ts'

const now = Date.parse('2026-08-01T12:00:00Z')
const read = (text: string) => readInstant('since', text, now)

describe('the time of a flag', () => {
  test.each([
    ['90s', '2026-08-01T11:58:30Z'],
    ['30m', '2026-08-01T11:30:00Z'],
    ['2h', '2026-08-01T10:00:00Z'],
    ['1.5h', '2026-08-01T10:30:00Z'],
    ['3d', '2026-07-29T12:00:00Z'],
    ['1w', '2026-07-25T12:00:00Z'],
    ['2026-07-31T08:00:00Z', '2026-07-31T08:00:00Z'],
    ['2026-07-31T08:00:00+02:00', '2026-07-31T06:00:00Z'],
    [String(now), '2026-08-01T12:00:00Z'],
  ])('%s', (text, instant) => {
    expect(new Date(read(text)).toISOString()).toBe(new Date(instant).toISOString())
  })

  test('a date and a time without a zone are those of this machine', () => {
    expect(read('2026-07-31')).toBe(new Date(2026, 6, 31).getTime())
    expect(read('2026-07-31T08:30')).toBe(new Date(2026, 6, 31, 8, 30).getTime())
  })

  test.each(['yesterday', '2 hours', '2x', '12', '2026-13-01', '', '1 2026'])(
    '%j is refused with what can be written',
    (text) => {
      expect(() => read(text)).toThrow(
        expect.objectContaining({
          message: expect.stringContaining('--since is not a time'),
          hint: expect.stringContaining('30m, 2h, 3d'),
        }),
      )
    },
  )
})
