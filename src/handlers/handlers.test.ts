import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Schema } from '../engine/core/schema/schema.ts'
import { builtInHandlers, createHandlers, handlerTypes } from './handlers.ts'

const noModel = { models: { find: () => Promise.reject(new Error('no model in this test')) } }

describe('the list of handlers', () => {
  test('has one entry per type, and each makes a handler of that type with its schema', () => {
    const { handlers } = createHandlers(noModel)
    const listed = handlerTypes.map(({ type, schema }) => ({ type, schema }))
    expect(handlers.map(({ type, schema }) => ({ type, schema }))).toEqual(listed)
    expect(new Set(listed.map(({ type }) => type)).size).toBe(listed.length)
    expect([...builtInHandlers().keys()]).toEqual(listed.map(({ type }) => type))
  })

  test.each(handlerTypes.map(({ type, schema }) => [type, schema] as const))(
    '%s: every field says what it means',
    (_, schema: Schema) => {
      const fields = schema.kind === 'object' ? Object.entries(schema.fields) : []
      expect(fields.length).toBeGreaterThan(0)
      expect(fields.filter(([, { about = '' }]) => !/\.$/.test(about))).toEqual([])
    },
  )

  test('loads no large package until a handler needs it', { timeout: 60_000 }, () => {
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = new Set()
      registerHooks({ load(url, context, next) {
        const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]
        if (name !== undefined) loaded.add(name)
        return next(url, context)
      } })
      const { builtInHandlers } = await import('./src/handlers/handlers.ts')
      builtInHandlers()
      process.stdout.write(JSON.stringify([...loaded]))
    `
    const args = ['--input-type=module', '-e', program]
    const loaded: readonly string[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    expect(loaded.toSorted()).toEqual(['ipaddr.js', 'lru-cache', 're2js'])
  })
})
