import { describe, expect, test } from 'vitest'
import { findMethod, methods } from '../../gateway/methods.ts'
import type { Method } from '../../methods/method.ts'
import { rejectUnknownFlags } from '../command.ts'
import { argsOf, flagsOf, paramsOf } from './flags.ts'

function flags(name: string) {
  const row = findMethod(name)
  if (row === undefined) throw new Error(`no method ${name}`)
  return flagsOf(row)
}

describe('flags follow from the parameters of a method', () => {
  test('what stands in the address stands without a name', () => {
    expect(argsOf(flags('hooks.toggle'))).toMatchObject({
      'hook-id': { type: 'positional', required: true },
      enabled: { type: 'boolean' },
    })
  })

  test('each kind is read as what it is', () => {
    const given = {
      event: 'stop',
      'timeout-ms': '500',
      enabled: false,
      'agent-ids': 'a, b',
      config: '{"url":1}',
    }
    expect(paramsOf(flags('hooks.create'), given)).toEqual({
      event: 'stop',
      timeout_ms: 500,
      enabled: false,
      agent_ids: ['a', 'b'],
      config: { url: 1 },
    })
    expect(paramsOf(flags('hooks.history'), { limit: 'many' })).toEqual({ limit: 'many' })
    expect(() => paramsOf(flags('hooks.create'), { config: '{' })).toThrow('--config is not JSON')
  })

  test('what only the gateway sets has no flag', () => {
    const names = flags('hooks.create').map(({ name }) => name)
    expect(names).not.toContain('tenant-id')
    expect(names).toContain('if-expr')
  })

  test('a flag that nobody reads is refused with the nearest one', () => {
    expect(() => rejectUnknownFlags({ _: [], enabeld: true }, ['enabled', 'hook-id'])).toThrow(
      expect.objectContaining({ hint: 'Did you mean --enabled?' }),
    )
    expect(() => rejectUnknownFlags({ _: [], hookId: 'x', 'hook-id': 'x' }, ['hook-id'])).not.toThrow()
  })

  test.each(methods.map((row): [string, Method] => [row.name, row]))(
    '%s: no two flags share a name',
    (_, row) => {
      const names = flagsOf(row).map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
    },
  )
})
