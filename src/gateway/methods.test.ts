import { expect, test } from 'vitest'
import { toJsonSchema } from '../hook-files/schema/json-schema.ts'
import type { Method } from '../methods/method.ts'
import { findMethod, methods } from './methods.ts'

const rows: readonly Method[] = methods

test('every method has a name and a route of its own', () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  const routes = rows.map(({ rest }) => `${rest.verb} ${rest.path.replace(/:\w+/g, ':')}`)
  expect(new Set(routes).size).toBe(rows.length)
})

test('a method is found by its name', () => {
  expect(findMethod('hooks.list')?.rest.path).toBe('/v1/hooks')
  expect(findMethod('hooks.lost')).toBeUndefined()
})

test.each(rows.map((row) => [row.name, row] as const))(
  '%s can be described, takes no unknown parameter, and has every part of its route among them',
  (name, { params, result, rest, about }) => {
    // A blueprint keeps keys that other tools add to it, with a warning.
    const isOpen = name === 'blueprints.create' || name === 'blueprints.update'
    if (!isOpen) expect(params.others).toBeUndefined()
    expect(Object.keys(params.fields)).toEqual(
      expect.arrayContaining([...rest.path.matchAll(/:(\w+)/g)].map(([, name]) => name)),
    )
    expect(toJsonSchema(result).type).toBe('object')
    expect(about).toMatch(/^[A-Z].*\.$/)
  },
)
