import { expect, test } from 'vitest'
import { visibleJson, visibleLine, visibleText } from './visible-text.ts'

test.each([
  ['a direction mark', 'a\u202eb', 'a\\u{202e}b'],
  ['an escape sequence', '\u001b[2J', '\\u{1b}[2J'],
  ['a C1 control', '\u009b31m', '\\u{9b}31m'],
  ['a space of no width', 'r\u200bm', 'r\\u{200b}m'],
  ['a space that is another character', 'rm\u00a0-rf\u3000x', 'rm\\u{a0}-rf\\u{3000}x'],
  ['letters that are drawn as nothing', 'a\u3164b\u2800c', 'a\\u{3164}b\\u{2800}c'],
  ['a variation mark', 'a\ufe0fb', 'a\\u{fe0f}b'],
  ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
  ['half of a pair', 'a\ud800b', 'a\\u{d800}b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
])('%s is written out', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown)
})

test('letters, emoji, line ends and tabs stay as they are', () => {
  for (const text of ['naïve Ωμέγα 日本語 שלום', '❤️ 👍', 'a\n\tb']) expect(visibleText(text)).toBe(text)
  expect(visibleLine('a\n\tb\r')).toBe('a\\n\\tb\\u{d}')
})

test('JSON keeps its value and contains no such character', () => {
  const value = { 'a\u202e': ['\u009b', '\u{e0041}', 'é', '\u00a0'], n: 1 }
  const json = visibleJson(value, 2)
  expect(JSON.parse(json)).toEqual(value)
  expect(visibleText(json)).toBe(json)
  expect(visibleJson(undefined)).toBe('null')
})
