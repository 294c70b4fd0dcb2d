import { describe, expect, test } from 'vitest'
import { compileError, matchesName } from '../../../test/engine/match.fixture.ts'
import { compileRegex } from './regex.ts'

describe('a matcher text', () => {
  test('GC-19 searches the name for an RE2 pattern, unanchored', () => {
    expect(matchesName({ matcher: 'dit' }, 'MultiEdit')).toBe(true)
    expect(matchesName({ matcher: '^Edit$' }, 'MultiEdit')).toBe(false)
    expect(matchesName({ matcher: 'exec|bash' }, 'bash')).toBe(true)
    expect(matchesName({ matcher: '(?i)BASH' }, 'bash')).toBe(true)
    expect(matchesName({ matcher: 'BASH' }, 'bash')).toBe(false)
  })

  test('GC-19 OH-21 matches every name when it is missing or empty', () => {
    expect(matchesName({}, 'Bash')).toBe(true)
    expect(matchesName({ matcher: '' }, '')).toBe(true)
  })

  test('GC-22 never matches an event without a name, unless it matches the empty text', () => {
    expect(matchesName({ matcher: 'Bash' }, '')).toBe(false)
    expect(matchesName({ matcher: '.+' }, '')).toBe(false)
    expect(matchesName({ matcher: '.*' }, '')).toBe(true)
  })

  test('literal names between ^ and $ are compared as a whole', () => {
    for (const matcher of ['^Bash$', '^(Read|Bash)$']) {
      expect(matchesName({ matcher }, 'Bash')).toBe(true)
      for (const other of ['Bashful', 'aBash', 'bash', '', 'Bash\n', 'Read|Bash'])
        expect(matchesName({ matcher }, other)).toBe(false)
    }
    expect(matchesName({ matcher: '^a.b$' }, 'axb')).toBe(true)
  })

  test('4.3 #37 answers (a+)+$ on 100 KB', () => {
    const name = `${'a'.repeat(100_000)}!`
    for (const matcher of ['(a+)+$', '^(a+)+$', '(a|aa)+$', '(.*)*$!']) {
      expect(matchesName({ matcher }, name)).toBe(false)
      expect(matchesName({ matcher: '(a+)+!$' }, name)).toBe(true)
    }
  })
})

describe('a matcher that does not compile is refused when it is saved', () => {
  test.each([
    ['(?=a)b', 0, 'look-around'],
    ['a(?!b)c', 1, 'look-around'],
    ['(?<=a)b', 0, 'look-around'],
    ['x(?<!a)', 1, 'look-around'],
    ['(a)\\1', 3, 'back-reference'],
    ['(?P<n>a)\\k<n>', 8, 'back-reference'],
    ['(?P<n>a)(?P=n)', 0, 'back-reference'],
  ])('4.3 #38 %s is unsupported', (matcher, offset, what) => {
    const error = compileError({ id: 'h1', matcher })
    expect(error).toMatchObject({ code: 'match.unsupported', at: `matcher:${offset}` })
    expect(error.message).toContain(what)
    expect(error.message).toContain('hook h1 on pre_tool_use')
  })

  test.each([
    ['(a', 2, 'missing closing )'],
    ['a[b', 3, 'missing closing ]'],
    ['x**', 1, 'invalid nested repetition'],
    ['a[z-b]', 2, 'invalid character class range'],
    ['a\\', 2, 'trailing backslash'],
    ['\\q', 0, 'invalid escape'],
  ])('%s is a syntax error with its position', (matcher, offset, what) => {
    const error = compileError({ matcher })
    expect(error).toMatchObject({ code: 'match.syntax', at: `matcher:${offset}` })
    expect(error.message).toContain(what)
  })

  test('a lone * is told how to match everything', () => {
    expect(compileError({ matcher: '*' })).toMatchObject({
      code: 'match.syntax',
      hint: expect.stringContaining('out'),
    })
  })

  test.each([
    ['a long pattern', 'x'.repeat(1_001)],
    ['a pattern that repeats itself into the thousands', 'x{1000}'.repeat(100)],
    ['a nested repetition', '(a{30}){30}'],
  ])('%s is too complex', (_, matcher) => {
    expect(compileError({ matcher })).toMatchObject({ code: 'match.too_complex', at: 'matcher' })
  })

  test('whatever the compiler throws on a strange pattern, it arrives coded', () => {
    for (const pattern of ['('.repeat(999), '(?:'.repeat(300), '\ud800', 'a\u0000', '\\p{Foo}']) {
      try {
        compileRegex(pattern, 'matcher')
      } catch (error) {
        expect(error).toHaveProperty('code', expect.stringMatching(/^match\./))
      }
    }
  })
})
