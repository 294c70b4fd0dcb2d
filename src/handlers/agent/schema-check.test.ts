import { describe, expect, test } from 'vitest'
import { compileSchema } from './schema-check.ts'

const refused = expect.objectContaining({ code: 'agent.schema', at: 'config.output_schema' })
const compile = (schema: unknown) => compileSchema(schema, 'config.output_schema')

describe('M25 a schema that somebody else wrote', () => {
  test('checks a value and names the place', () => {
    const check = compile({ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] })
    expect(check({ a: 1 })).toBeUndefined()
    expect(check({ a: 'x' })).toBe('/a must be integer')
    expect(check({})).toBe("it must have required property 'a'")
  })

  test('has patterns that cannot hang us', () => {
    const check = compile({ type: 'string', pattern: '^(a+)+$' })
    expect(check('a'.repeat(5_000))).toBeUndefined()
    expect(check(`${'a'.repeat(5_000)}b`)).toContain('must match pattern')
  })

  test('may say the same of keys', () => {
    const check = compile({ patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false })
    expect(check({ 'x-a': 'b' })).toBeUndefined()
    expect(check({ 'x-a': 1 })).toContain('must be string')
    expect(check({ y: 1 })).toContain('additional')
  })

  test.each([
    ['look-ahead', { pattern: '^(?=a)b' }],
    ['a back-reference', { pattern: '(a)\\1' }],
    ['an endless pattern', { pattern: 'a'.repeat(1_001) }],
    ['a pattern that unrolls', { pattern: '((a{100}){100}){100}' }],
    ['an unknown type', { type: 'thing' }],
    ['an address elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a schema of another kind', { $schema: 'https://example.com/meta' }],
    ['a hundred thousand characters', { description: 'x'.repeat(100_000) }],
    ['items compared with one another', { properties: { a: { type: 'array', uniqueItems: true } } }],
    ['a text', 'object'],
    ['a list', []],
  ])('with %s is refused', (_, schema) => {
    expect(() => compile(schema)).toThrow(refused)
  })

  test('may be of either common draft', () => {
    const newer = compile({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      prefixItems: [{ type: 'string' }],
    })
    expect(newer([1])).toContain('must be string')
    const older = compile({ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] })
    expect(older([1])).toContain('must be string')
  })

  test('does not know another one by its name', () => {
    compile({ $id: 'https://example.com/one', type: 'string' })
    expect(() => compile({ $ref: 'https://example.com/one' })).toThrow(refused)
    expect(() => compile({ $id: 'https://example.com/one', type: 'number' })).not.toThrow()
  })
})
