import { describe, expect, test } from 'vitest'
import { compileError } from '../../../../test/engine/match.fixture.ts'

const errorOf = (if_expr: string) => compileError({ if_expr })

describe('an if_expr is refused when it is saved', () => {
  test.each([
    ['tool_name ==', 'if_expr:1:11'],
    ['a b', 'if_expr:1:3'],
    ['true &&\n  (', 'if_expr:1:6'],
    ['"open', 'if_expr:1:1'],
    ['if == 1', 'if_expr:1:1'],
    ['  ', 'if_expr:1:3'],
    ['99999999999999999999 == 1', 'if_expr:1:1'],
  ])('4.3 #40 %j is a syntax error with line and column', (expr, at) => {
    const error = errorOf(expr)
    expect(error).toMatchObject({ code: 'match.cel_syntax', at })
    expect(error.message).toContain(at.replace('if_expr:', 'if_expr at '))
  })

  test.each([
    'tool_name',
    '1 + 1',
    'size(tool_input)',
    '[true]',
    '{"a": true}',
    'true ? "a" : "b"',
    'null',
    'tool_input.list.map(x, x)',
    'depth',
    'string(tool_input.x)',
  ])('4.3 #42 %s cannot be a condition', (expr) => {
    expect(errorOf(expr)).toMatchObject({
      code: 'match.cel_type',
      message: expect.stringContaining('the result'),
    })
  })

  test.each([
    ['tol_name == "x"', 'there is no variable tol_name'],
    ['constructor == 1', 'there is no variable constructor'],
    ['x.all(y, y == 1)', 'there is no variable x'],
    ['[1].all(y, z == 1)', 'there is no variable z'],
    ['[1].all(y, true) && y == 1', 'there is no variable y'],
    ['readFile("/etc/passwd") == ""', 'there is no function readFile'],
    ['tool_name.fetch()', 'there is no function fetch'],
    ['matches(tool_name, "x")', 'there is no matches(string, string)'],
    ['has(tool_input)', 'has() takes a field'],
    ['tool_name + 1 == "x"', 'there is no +(string, int)'],
    ['depth > "1"', 'there is no >(int, string)'],
    ['!tool_name', 'there is no !(string)'],
    ['tool_name.startsWith(1)', 'there is no string.startsWith(int)'],
    ['tool_name.x == 1', 'type string has no field x'],
    ['depth[0] == 1', 'type int has no entries'],
    ['tool_name && true', 'type string is neither true nor false'],
    ['prompt.all(c, c == "x")', 'type string has no entries'],
    ['depth ? true : false', 'type int is neither true nor false'],
    ['google.protobuf.Timestamp{} == 1', 'there is no message type'],
    ['google.protobuf.Timestamp == 1', 'there is no variable google'],
  ])('GC-20 %s', (expr, why) => {
    const error = errorOf(expr)
    expect(error.code).toBe('match.cel_type')
    expect(error.message).toContain(why)
  })

  test('an unknown variable is answered with the known ones', () => {
    expect(errorOf('foo == 1').hint).toContain('tool_input')
  })

  test('M10 the pattern of matches is a literal, and RE2', () => {
    expect(errorOf('tool_name.matches(prompt)')).toMatchObject({ code: 'match.cel_type' })
    expect(errorOf('tool_name.matches("a" + "b")')).toMatchObject({ code: 'match.cel_type' })
    expect(errorOf('tool_name.matches("(")')).toMatchObject({ code: 'match.syntax', at: 'if_expr:1:19:1' })
    expect(errorOf('tool_name.matches("(?=x)")')).toMatchObject({ code: 'match.unsupported' })
    expect(errorOf(`tool_name.matches("${'x'.repeat(1_001)}")`)).toMatchObject({ code: 'match.too_complex' })
  })

  test.each([
    '[1].all(x, [2].all(y, y > x))',
    'tool_input.l.map(x, x).exists(y, y == 1)',
    'tool_input.l.exists(x, tool_input.m.filter(y, y == x).size() > 0)',
    '[tool_input.l.map(x, x)].all(y, true)',
    'tool_input.l.map(x, [1].exists_one(y, y == x), x) == []',
  ])('4.3 #43 M11 comprehensions cannot be nested: %s', (expr) => {
    expect(errorOf(expr)).toMatchObject({
      code: 'match.too_complex',
      message: expect.stringContaining('nested'),
    })
  })
})
