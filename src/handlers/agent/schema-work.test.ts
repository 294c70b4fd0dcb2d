import { expect, test } from 'vitest'
import { compileSchema, compileViolations } from './schema-check.ts'

const HANG = 60_000
const compilers = [
  ['of a hook', (schema: object) => compileSchema({ ...schema }, 'schema')],
  [
    'of a blueprint',
    (schema: object) => {
      const check = compileViolations(schema, 'schema')
      return (value: unknown) => check(value)[0]?.message
    },
  ],
] as const

/** Each definition checks its value with the next one twice. */
function doubling(levels: number) {
  const definitions = Array.from({ length: levels }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` }
    return [`d${level}`, { allOf: [next, next] }] as const
  })
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(definitions), [`d${levels}`]: {} } }
}

test.each(compilers)('a schema %s whose references take for ever is refused', (_, compile) => {
  for (const schema of [
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } },
    doubling(40),
  ])
    expect(() => compile(schema)).toThrow('too much work')
})

test.each(compilers)('a schema %s with ordinary recursion and references works', (_, compile) => {
  const tree = { type: 'object', properties: { child: { $ref: '#' }, name: { type: 'string' } } }
  const check = compile(tree)
  expect(check({ child: { child: { name: 'x' } } })).toBeUndefined()
  expect(check({ child: { child: { name: 1 } } })).toContain('string')
  expect(compile({ const: { $ref: 'x' } })({ $ref: 'x' })).toBeUndefined()
  expect(compile({ properties: { $ref: { type: 'string' } } })({ $ref: 'x' })).toBeUndefined()
  expect(compile(doubling(8))({})).toBeUndefined()
})

test.each(compilers)(
  'a value that makes a schema %s work for ever does not fit',
  (_, compile) => {
    const again = { $ref: '#' }
    const check = compile({ properties: { a: { allOf: [again, again] } } })
    let deep: object = {}
    for (let level = 0; level < 60; level += 1) deep = { a: deep }
    expect(check(deep)).toContain('cannot be checked')
    const patterns = Array.from({ length: 1_000 }, (_item, n) => [`^x${n}(a|b)+$`, { type: 'string' }])
    const keys = Array.from({ length: 20_000 }, (_item, n) => [`key ${n}`, n])
    const slow = compile({ patternProperties: Object.fromEntries(patterns) })
    expect(slow(Object.fromEntries(keys))).toContain('cannot be checked')
  },
  HANG,
)

test.each(compilers)(
  'a schema %s does not compare the items of a list that is too long',
  (_, compile) => {
    const check = compile({ properties: { list: { uniqueItems: true, maxItems: 1_000 } } })
    const list = Array.from({ length: 60_000 }, (_item, n) => ({ n }))
    expect(check({ list })).toContain('1000 items')
  },
  HANG,
)
