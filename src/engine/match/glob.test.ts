import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileError, matchesName } from '../../../test/engine/match.fixture.ts'
import { compileGlob } from './glob.ts'

const glob = (pattern: string, text: string): boolean =>
  compileGlob(pattern, { at: 'match.glob', classes: true })(text)

test.each([
  ['mcp__*', 'mcp__github__push', true],
  ['mcp__*', 'Mcp__github', false],
  ['*', '', true],
  ['?', '', false],
  ['b?sh', 'bash', true],
  ['?', '😀', true],
  ['*😀', 'a😀', true],
  ['[ab]*', 'bash', true],
  ['[!a-z]*', 'Bash', true],
  ['[!a-z]*', 'bash', false],
  ['[]x]', ']', true],
  ['[!]]', ']', false],
  ['[a-]', '-', true],
  ['[z-a]', 'm', false],
  ['a[b', 'a[b', true],
  ['a.b', 'axb', false],
  ['**a**', 'bab', true],
])('OH-19 %s on %s is %s', (pattern, text, expected) => {
  expect(glob(pattern, text)).toBe(expected)
})

test('OH-19 a glob is no regular expression and spans the whole name, case and all', () => {
  expect(matchesName({ match: { glob: '^bash$' } }, 'bash')).toBe(false)
  expect(matchesName({ match: { glob: 'bash|edit' } }, 'bash')).toBe(false)
  expect(matchesName({ match: { glob: 'bash' } }, 'Bash')).toBe(false)
  expect(matchesName({ match: { glob: 'as' } }, 'bash')).toBe(false)
})

test('OH-21 a missing or empty glob matches everything', () => {
  expect(matchesName({ match: { glob: '' } }, '')).toBe(true)
  expect(matchesName({ match: { glob: '*' } }, '')).toBe(true)
})

test('a glob of more than 1 000 characters is too complex', () => {
  expect(compileError({ match: { glob: 'x'.repeat(1_001) } })).toMatchObject({
    code: 'match.too_complex',
    at: 'match.glob',
  })
})

/** The definition, as slow as it is plain. */
function naive(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern
  if (head === undefined) return text.length === 0
  if (head === '*') return naive(rest, text) || (text.length > 0 && naive(pattern, text.slice(1)))
  return text.length > 0 && (head === '?' || head === text[0]) && naive(rest, text.slice(1))
}

test('any glob agrees with its definition on any text', () => {
  const letters = fc.constantFrom('a', 'b', '😀', '*', '?')
  const pattern = fc.array(letters, { maxLength: 8 })
  const text = fc.array(fc.constantFrom('a', 'b', '😀', '?'), { maxLength: 10 })
  fc.assert(
    fc.property(pattern, text, (p, t) => {
      expect(glob(p.join(''), t.join(''))).toBe(naive(p, t))
    }),
    { numRuns: 2_000 },
  )
})

test('no pattern with brackets makes the compiler throw', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('[', ']', '!', '-', 'a', 'z', '*') }),
      fc.string(),
      (p, t) => {
        expect(typeof glob(p.slice(0, 1_000), t)).toBe('boolean')
      },
    ),
  )
})
