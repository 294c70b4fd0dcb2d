import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson, readText, writeJson, writeText } from './stored-text.ts'

const units = fc.string({
  unit: fc.constantFrom('\0', '\u0001', '\ud800', '\udc00', '\\', 'u0000', '0', 'd', 'a'),
})

test('4.1 #15 every text reads back as it was, and is one that PostgreSQL takes', () => {
  fc.assert(
    fc.property(units, (text) => {
      const stored = writeText(text)
      expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true)
      expect(readText(stored)).toBe(text)
    }),
  )
})

test('4.1 #15 every JSON value reads back as it was, its keys too', () => {
  fc.assert(
    fc.property(units, units, (key, text) => {
      // As a computed key would, `__proto__` included.
      const value = Object.fromEntries([[`k${key}`, [text]]])
      const stored = writeJson(value)
      expect(stored).not.toMatch(/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/)
      expect(readJson(stored)).toEqual(value)
    }),
  )
})
