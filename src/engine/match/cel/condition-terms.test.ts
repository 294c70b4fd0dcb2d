import { describe, expect, test } from 'vitest'
import { toolCallInput } from '../../../../test/engine/match.fixture.ts'
import { evaluateTerms } from './condition-terms.ts'

const input = toolCallInput('exec', { cmd: 'git push -f', list: [1, 2], path: 'a && b' }, { depth: 1 })
const terms = (source: string) =>
  evaluateTerms(source, input).map(({ join, source: text, holds, value }) =>
    [join, text, holds, value].filter((part) => part !== undefined),
  )

describe('the terms of a condition', () => {
  test('each has its own result, and the value that decided', () => {
    expect(terms('tool_name == "exec" && size(tool_input.cmd) > 80 || depth != 0')).toEqual([
      ['tool_name == "exec"', true],
      ['and', 'size(tool_input.cmd) > 80', false, '11'],
      ['or', 'depth != 0', true, '1'],
    ])
  })

  test.each([
    ['tool_name == "Bash"', '"exec"'],
    ['"Bash" == tool_name', '"exec"'],
    ['tool_input.cmd.contains("--force")', '"git push -f"'],
    ['!tool_input.cmd.startsWith("git")', '"git push -f"'],
    ['tool_name in ["Bash", "Write"]', '"exec"'],
    ['tool_input.list == [1]', 'a list of 2'],
    ['tool_input == {}', 'a map of 3'],
  ])('%s is false for %s', (source, value) => {
    expect(terms(source)).toEqual([[source, false, value]])
  })

  test.each([
    'tool_input.path == "a && b"',
    '(depth == 1 && tool_name == "exec")',
    'tool_name == "exec" ? depth == 1 && true : false',
    'has(tool_input.cmd)',
    'tool_input.list.exists(x, x > 1 && x < 3)',
  ])('%s is one term', (source) => {
    expect(terms(source)).toEqual([[source, true]])
  })

  test('a term that cannot be evaluated says why, though the whole condition holds', () => {
    expect(evaluateTerms('tool_input.missing == 1 || true', input)).toEqual([
      {
        source: 'tool_input.missing == 1',
        holds: 'failed',
        problem: 'a key is missing',
      },
      { join: 'or', source: 'true', holds: true },
    ])
  })

  test('operators after a comment or a raw text still split', () => {
    expect(terms('tool_name != r"\\" && // a || b\n depth == 1')).toEqual([
      ['tool_name != r"\\"', true, '"exec"'],
      ['and', '// a || b\n depth == 1', true],
    ])
  })
})
