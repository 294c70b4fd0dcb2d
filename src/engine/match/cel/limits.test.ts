import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catchHookError, eventInput, matches, toolCallInput } from '../../../../test/engine/match.fixture.ts'
import { HookError } from '../../core/errors/error.ts'
import { compileMatcher } from '../matcher.ts'

const long = 'a'.repeat(65_536)
const thousand = Array.from({ length: 1_000 }, (_, index) => index)
const holds = (expr: string, payload: unknown): boolean => matches({ if_expr: expr }, eventInput(payload))
const whyNot = (expr: string, payload: unknown): string => {
  const error = catchHookError(() => holds(expr, payload))
  expect(error.code).toBe('match.cel_eval')
  return error.message
}

describe('what is cut is never taken for the whole', () => {
  test('a text is read up to 65 536 characters; true stands, false is not certain', () => {
    expect(holds('payload.s.startsWith("a")', { s: `${long}b` })).toBe(true)
    expect(holds('payload.s.endsWith("b")', { s: long })).toBe(false)
    expect(whyNot('payload.s.endsWith("b")', { s: `${long}b` })).toContain('cut')
    expect(whyNot('prompt.contains("rm -rf")', { prompt: `${long}rm -rf` })).toContain('cut')
  })

  test('a list or map shows 1 000 entries, but any key can be asked for', () => {
    const list = [...thousand, -1]
    const map = Object.fromEntries(list.map((n) => [`k${n}`, n]))
    expect(holds('payload.l.exists(x, x == 5)', { l: list })).toBe(true)
    expect(whyNot('payload.l.exists(x, x == -1)', { l: list })).toContain('cut')
    expect(whyNot('payload.m.exists(k, k == "k-1")', { m: map })).toContain('cut')
    expect(holds('payload.m["k-1"] == -1', { m: map })).toBe(true)
    expect(whyNot('size(payload.b) == 1', { b: new Uint8Array(70_000) })).toContain('cut')
  })

  test('what the condition does not mention is not read', () => {
    const payload = {
      a: 1,
      big: long + long,
      get trap(): never {
        throw new TypeError('read')
      },
    }
    expect(holds('payload.a == 2', payload)).toBe(false)
    expect(whyNot('payload.trap == 2', payload)).not.toContain('read:')
  })
})

describe('GC-20 the work of one evaluation is bounded', () => {
  test.each([
    ['payload.s.replace("a", payload.s) == ""', 'replace gives more than'],
    ['payload.l.map(x, payload.s).join() == ""', 'join gives more than'],
    ['payload.ls.join(",") == ""', 'join gives more than'],
    ['"%s".format([payload.ls]) == ""', 'format gives more than'],
    ['"%x".format([payload.s]) == ""', 'format gives more than'],
    ['"%s".format([payload]) == ""', 'format gives more than'],
    ['payload.s.split("") == []', 'split gives more than'],
    ['size(payload.l + payload.l) == 1', 'a list of more than'],
    ['payload.s + payload.s + payload.s == ""', 'a text of more than'],
    ['payload.s.contains(payload.s + "b")', 'steps'],
    ['payload.s.lastIndexOf(payload.half) == 1', 'steps'],
    ['payload.s.matches("a[ab]{150}[cd]$")', 'steps'],
    ['payload.ls.all(x, x.lowerAscii() == x)', 'steps'],
    ['payload.l.all(x, x in payload.l)', 'steps'],
    ['payload.ls.all(x, size(x) > 0 && x.contains("b") == false)', 'steps'],
    ['payload.l.all(x, payload.l.size() > 0 && payload.l == payload.l)', 'steps'],
    ['payload.l.all(x, timestamp("2020-01-01T00:00:00Z").getHours("UTC") == 0)', 'steps'],
  ])('M11 %s', (expr, why) => {
    const half = `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}`
    const message = whyNot(expr, { s: long, half, l: thousand, ls: thousand.map(() => long) })
    expect(message).toContain(why)
  })

  test('M9 a catastrophic pattern on the longest text is answered', () => {
    expect(holds('payload.s.matches("(a+)+$")', { s: long })).toBe(true)
    expect(holds('payload.s.matches("(a+)+b$")', { s: long })).toBe(false)
  })

  test('a payload nested deeper than 64 levels is read that far', () => {
    const deep = JSON.parse(`${'['.repeat(80)}1${']'.repeat(80)}`)
    expect(whyNot('payload.a == payload.b', { a: deep, b: JSON.parse(JSON.stringify(deep)) })).toContain(
      '64 levels',
    )
  })

  test('a body with many operators goes through fewer entries', () => {
    const body = Array.from({ length: 100 }, () => 'x >= 0').join(' && ')
    expect(holds(`payload.l.all(x, ${body})`, { l: thousand.slice(0, 200) })).toBe(true)
    expect(holds(`!payload.l.all(x, ${body})`, { l: [-1] })).toBe(true)
    expect(whyNot(`!payload.l.all(x, ${body})`, { l: thousand })).toContain('cut')
  })
})

test('any JSON payload on any condition answers, or fails with a code', () => {
  const conditions = [
    'tool_input.a == payload.b',
    'tool_input.a + 1 > 2',
    'payload.l.all(x, x.y == tool_input)',
    'payload.l.map(x, x) == payload.l',
    'payload.l.filter(x, x in payload.l).size() > 1',
    'tool_input.a.matches("^a+$")',
    'tool_input.a.split(tool_input.b).join(tool_input.c).contains("x")',
    'tool_input.a.replace(tool_input.b, tool_input.c) == "%s %d".format([tool_input.a, tool_input.b])',
    'size(payload) > 2 || has(payload.a.b) || int(payload.a) == 1',
    'payload["__proto__"] == payload.constructor',
    'payload == tool_response || tool_input in payload.l',
    'payload.all(k, payload[k] != null)',
    'timestamp(prompt).getHours(tool_name) > duration(error).getSeconds()',
    'tool_response[depth] > tool_response[tool_name]',
    'bytes(prompt) == bytes(string(tool_input.a))',
  ].map((if_expr) => compileMatcher({ if_expr }, 'pre_tool_use'))
  const key = fc.constantFrom(
    'a',
    'b',
    'c',
    'l',
    'tool_input',
    'tool_name',
    'tool_response',
    'prompt',
    '__proto__',
    '$typeName',
  )
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  })).value
  fc.assert(
    fc.property(
      fc.oneof(fc.dictionary(key, json, { maxKeys: 6 }), json),
      fc.constantFrom(...conditions),
      (payload, matcher) => {
        try {
          expect(typeof matcher.when?.({ ...toolCallInput('Bash'), payload })).toBe('boolean')
        } catch (error) {
          if (!(error instanceof HookError)) throw error
          expect(error.code).toBe('match.cel_eval')
        }
      },
    ),
    { numRuns: 1_000 },
  )
})
