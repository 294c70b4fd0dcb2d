import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileError, eventInput, matches } from '../../../../test/engine/match.fixture.ts'
import { HookError } from '../../core/errors/error.ts'
import { compileMatcher } from '../matcher.ts'

const nest = (open: string, inside: string, close: string, depth: number): string =>
  open.repeat(depth) + inside + close.repeat(depth)

describe('4.3 #40 an oversized expression is refused before it is parsed', () => {
  test.each([
    ['5 000 parentheses', nest('(', 'true', ')', 5_000)],
    ['a long expression', `tool_name == "${'x'.repeat(2_048)}"`],
    ['33 parentheses', nest('(', 'true', ')', 33)],
    ['33 lists', `${nest('[', '1', ']', 33)} == []`],
    ['33 maps', `${nest('{1:', '1', '}', 33)} == {}`],
    ['33 calls', `${nest('size(', '1', ')', 33)} == 1`],
    ['33 nots', `${'!'.repeat(33)}true`],
    ['33 minus signs with spaces between', `${'- '.repeat(33)}depth == 1`],
    ['too many operators', `${'true||'.repeat(300)}true`],
    ['a long chain of keys', `payload${'.a'.repeat(400)} == 1`],
    ['parentheses behind a raw text', `r"\\" == "" || ${nest('(', 'true', ')', 40)}`],
  ])('%s', (_, expr) => {
    expect(compileError({ if_expr: expr })).toMatchObject({ code: 'match.too_complex' })
  })

  test('what stands in texts and comments does not count', () => {
    const text = '('.repeat(50)
    for (const expr of [
      `prompt == "${text}"`,
      `prompt == '${text}'`,
      `prompt == r"${text}\\"`,
      `prompt == """${text}"${text}"""`,
      `prompt == "\\"${text}"`,
      `bytes(prompt) == b"${text}"`,
    ])
      expect(matches({ if_expr: expr }, eventInput({}))).toBe(false)
  })

  test('32 levels are fine', () => {
    expect(matches({ if_expr: nest('(', 'true', ')', 32) }, eventInput({}))).toBe(true)
  })
})

test('any text at all either compiles or is refused with a code', () => {
  const piece = fc.constantFrom(
    ...'( ) [ ] { } ! - + * / % < > == != && || ? : . , in has( .all(x, .map( .matches( true null 1 1.5 0x1 1u'.split(
      ' ',
    ),
    ...[
      'tool_name',
      'tool_input',
      'x',
      '"a"',
      "'b'",
      'r"\\"',
      '"""',
      '"',
      "'",
      '\\',
      '\n',
      ' ',
      '`',
      '@',
      '😀',
      'b"x"',
    ],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        compileMatcher({ if_expr: pieces.join('') }, 'pre_tool_use')
      } catch (error) {
        expect(error).toBeInstanceOf(HookError)
      }
    }),
    { numRuns: 1_000 },
  )
})
