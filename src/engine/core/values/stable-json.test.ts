import { expect, test } from 'vitest'
import { stableJson } from './stable-json.ts'

test('equal data gives equal text, however its keys are ordered', () => {
  expect(stableJson({ b: { d: 1, c: [2, { f: 1, e: 2 }] }, a: null })).toBe(
    stableJson({ a: null, b: { c: [2, { e: 2, f: 1 }], d: 1 } }),
  )
})

test('the order of a list counts', () => {
  expect(stableJson([1, 2])).not.toBe(stableJson([2, 1]))
})

test('cycles end, and a shared part is no cycle', () => {
  const cyclic: Record<string, unknown> = { a: 1 }
  cyclic.self = cyclic
  expect(stableJson(cyclic)).toBe('{"a":1,"self":"[Circular]"}')
  const shared = { x: 1 }
  expect(stableJson([shared, shared])).toBe('[{"x":1},{"x":1}]')
})

test('what JSON has no word for becomes text', () => {
  expect(stableJson({ big: 10n, symbol: Symbol('s') })).toBe('{"big":"10","symbol":"Symbol(s)"}')
  expect(stableJson(undefined)).toBe('null')
})

test('dates, maps, sets and bytes that differ do not look equal', () => {
  expect(stableJson({ at: new Date(1) })).not.toBe(stableJson({ at: new Date(2) }))
  expect(stableJson(new Map([['a', 1]]))).not.toBe(stableJson(new Map([['a', 2]])))
  expect(stableJson(new Set([1]))).not.toBe(stableJson(new Set([2])))
  expect(stableJson(Buffer.from('a'))).not.toBe(stableJson(Buffer.from('b')))
})

test('an own __proto__ key is data', () => {
  expect(stableJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
})
