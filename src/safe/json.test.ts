import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HookError } from '../engine/core/errors/error.ts'
import { parseJson, parseJsonBytes } from './json.ts'

const refused = (code: string) => expect.objectContaining({ name: 'HookError', code })
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

function problemOf(text: string): HookError {
  try {
    parseJson(text)
  } catch (thrown) {
    if (thrown instanceof HookError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}

describe('what is not JSON is named with its place', () => {
  test.each(['', ' \n\t ', '\uFEFF'])('4.1 #1 empty: %j', (text) => {
    expect(() => parseJson(text)).toThrow(refused('input.empty'))
  })

  test.each([
    ['{"a": [1, 2', 'line 1, column 12'],
    ['{\n  "a": 1,\n  "b": tru\n}', 'line 3, column 8'],
    ['{"a" 1}', 'line 1, column 6'],
    ['{"a":1,}', 'line 1, column 8'],
    ['[1 2]', 'line 1, column 4'],
    ['{} {}', 'line 1, column 4'],
    ['"no end', 'line 1, column 8'],
    ['"a\nb"', 'line 1, column 3'],
    ['"\\x"', 'line 1, column 2'],
    ["{'a': 1}", 'line 1, column 2'],
    ['{"a": 1]', 'line 1, column 8'],
    ['01', 'line 1, column 2'],
    ['NaN', 'line 1, column 1'],
    ['// no\n1', 'line 1, column 1'],
  ])('4.1 #2 %j breaks at %s', (text, place) => {
    expect(problemOf(text)).toMatchObject({ code: 'input.json', at: place })
  })

  test('4.1 #2 a message says where, never what stands there', () => {
    expect(problemOf('{"password": hunter2}').message).toBe('expected a value: line 1, column 14')
  })

  test('bytes that are not UTF-8 are refused, not replaced', () => {
    const cut = Buffer.from('{"a":"é"}').filter((byte) => byte !== 0xa9)
    expect(() => parseJsonBytes(cut)).toThrow(refused('input.utf8'))
  })
})

describe('every limit is finite', () => {
  test('4.1 #3 one byte too many', () => {
    const most = `"${'x'.repeat(1_048_574)}"`
    expect(parseJson(most)).toHaveLength(1_048_574)
    expect(() => parseJson(`${most} `)).toThrow(refused('input.too_large'))
    expect(() => parseJsonBytes(Buffer.from(`${most} `))).toThrow(refused('input.too_large'))
  })

  test('4.1 #3 bytes count, not characters', () => {
    expect(() => parseJson('"ééééé"', { maxBytes: 8 })).toThrow(refused('input.too_large'))
    expect(parseJson('"eeeee"', { maxBytes: 8 })).toBe('eeeee')
  })

  test('4.1 #5 64 levels are read, 65 are not', () => {
    expect(parseJson(nested(64))).toHaveLength(1)
    expect(() => parseJson(nested(65))).toThrow(refused('input.too_deep'))
    expect(() => parseJson('{"a":'.repeat(65))).toThrow(refused('input.too_deep'))
  })

  test('4.1 #6 a million brackets are refused without a RangeError, closed or not', () => {
    const options = { maxBytes: 4_000_000 }
    expect(() => parseJson('['.repeat(2_000_000), options)).toThrow(refused('input.too_deep'))
    expect(() => parseJson(nested(1_000_000), options)).toThrow(refused('input.too_deep'))
    expect(() => parseJson('['.repeat(2_000_000))).toThrow(refused('input.too_large'))
    // A stack only overflows if somebody recurses: even without our cap the scan gets to the end.
    const free = { ...options, maxDepth: 2_000_000 }
    expect(() => parseJson('['.repeat(2_000_000), free)).toThrow(refused('input.json'))
  })

  test('4.1 #10 200 000 keys, in one object or in many', () => {
    const keys = Array.from({ length: 200_000 }, (_, i) => `"k${i}":0`)
    const options = { maxBytes: 4_000_000 }
    expect(() => parseJson(`{${keys}}`, options)).toThrow(refused('input.too_many_keys'))
    expect(() => parseJson(`[${keys.map((key) => `{${key}}`)}]`, options)).toThrow(
      refused('input.too_many_keys'),
    )
    expect(parseJson(`{${keys.slice(0, 10_000)}}`)).toHaveProperty('k9999', 0)
  })
})

describe('a key means one thing', () => {
  test.each([
    '{"__proto__": {"admin": true}}',
    '{"a": [{"b": {"__proto__": 1}}]}',
    '{"\\u005f_proto__": 1}',
    '{"constructor": {"prototype": {"admin": true}}}',
    '{"a": {"constructor": {"x": 1, "prototype": 1}}}',
  ])('4.1 #7 %s', (text) => {
    expect(() => parseJson(text)).toThrow(refused('input.forbidden_key'))
    expect(Object.prototype).not.toHaveProperty('admin')
  })

  test('4.1 #7 the words alone are harmless', () => {
    const text = '{"constructor":"Ford","prototype":1,"a":"__proto__","b":{"prototype":2}}'
    expect(JSON.stringify(parseJson(text))).toBe(text)
  })

  test.each([
    '{"decision":"block","decision":"allow"}',
    '{"decision":"block","\\u0064ecision":"allow"}',
    '[{"a":{"x":1,"y":{},"x":2}}]',
  ])('4.1 duplicate keys are refused, however they are written: %s', (text) => {
    expect(() => parseJson(text)).toThrow(refused('input.duplicate_key'))
  })

  test('4.1 one name in two objects is no duplicate', () => {
    expect(parseJson('{"a":{"a":[{"a":1},{"a":2}]}}')).toEqual({ a: { a: [{ a: 1 }, { a: 2 }] } })
  })
})

describe('what comes in goes out again', () => {
  test.each([
    '{"id":9007199254740993}',
    '{"id":-12345678901234567890,"list":[123456789012345678901234567890,1]}',
    '{"n":1e999}',
    '{"tool_input":{"a":9007199254740991,"b":0.5}}',
  ])('4.1 #12 %s is written back byte by byte', (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text)
  })

  test('4.1 #12 calculating with what would have been rounded throws', () => {
    const { id } = parseJson('{"id":9007199254740993}') as { id: number }
    expect(() => id > 100).toThrow(TypeError)
  })

  test('4.1 #14 a byte order mark is dropped', () => {
    expect(parseJson('\uFEFF{"a":1}')).toEqual({ a: 1 })
    expect(parseJsonBytes(Buffer.from('\uFEFF{"a":1}'))).toEqual({ a: 1 })
  })

  test('4.1 #15 NUL and half surrogates in a string stay', () => {
    expect(parseJson('{"a":"x\\u0000y","b":"\\ud800"}')).toEqual({ a: 'x\u0000y', b: '\ud800' })
  })
})

describe('for any text', () => {
  const pieces = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"\\u0041"', '"', '\\', '1', '-', '0.5e3', 'e', '.', '0'],
    ...['true', 'null', 'nul', ' ', '\n', '\u0001', 'é', '\uFEFF', '"__proto_"'],
  )
  const noise = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(''))

  test('it is read as JSON.parse reads it, or refused with a code', () => {
    fc.assert(
      fc.property(fc.oneof(noise, fc.json(), fc.string()), (text) => {
        const [ours, theirs] = [attempt(() => parseJson(text)), attempt(() => JSON.parse(text))]
        if (ours instanceof HookError) {
          const stricter = ['input.duplicate_key', 'input.forbidden_key', 'input.too_deep'].includes(
            ours.code,
          )
          return stricter || theirs instanceof SyntaxError
        }
        const expected = text.startsWith('\uFEFF') ? JSON.parse(text.slice(1)) : theirs
        // Numbers that JSON.parse would have rounded, to infinity too, differ in kind, and are covered above.
        if (!JSON.stringify(ours).match(/\d{16}|e\+?\d{3}/i)) expect(ours).toEqual(expected)
        return true
      }),
      { numRuns: 3_000 },
    )
  })
})

function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch (thrown) {
    return thrown
  }
}
