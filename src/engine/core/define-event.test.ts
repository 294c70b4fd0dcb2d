import { describe, expect, test } from 'vitest'
import { defineEvent, field } from './event.ts'
import { sticky } from './merge.ts'
import { flag, shape, text } from './schema/check.ts'

const payload = shape({ service: text })
const refused = (spec: unknown) => {
  try {
    return defineEvent(spec as never)
  } catch (error) {
    return error
  }
}

test('a row says everything, with the defaults filled in', () => {
  expect(defineEvent({ about: 'x', mode: 'gate', payload })).toMatchObject({
    sync: false,
    subject: 'tool_name',
    timeoutMs: 5_000,
    onFailure: 'block',
    awaitsOnlyTransformers: false,
    aliases: [],
  })
  expect(defineEvent({ about: 'x', mode: 'transform', payload }).onFailure).toBe('allow')
})

test('a row is frozen', () => {
  expect(Object.isFrozen(defineEvent({ about: 'x', mode: 'gate', payload }))).toBe(true)
})

test('a claim can always be claimed', () => {
  const row = defineEvent({ about: 'x', mode: 'claim', payload })
  expect(row.fields).toHaveProperty('handled')
})

describe('a row that contradicts itself is refused with the property', () => {
  const about = 'x'
  test.each<[string, unknown]>([
    ['mode', { about, mode: 'gates', payload }],
    ['payload', { about, mode: 'gate' }],
    ['sync', { about, mode: 'observe', payload, sync: true }],
    ['fields', { about, mode: 'observe', payload, fields: { block: field(flag, sticky) } }],
    ['fields', { about, mode: 'observe', payload, rewrites: 'service' }],
    ['onFailure', { about, mode: 'transform', payload, onFailure: 'block' }],
    ['onFailure', { about, mode: 'gate', payload, onFailure: 'open' }],
    ['maxBlocksInARow', { about, mode: 'transform', payload, maxBlocksInARow: 3 }],
    ['timeoutMs', { about, mode: 'gate', payload, timeoutMs: Number.NaN }],
    ['timeoutMs', { about, mode: 'gate', payload, timeoutMs: 0 }],
  ])('%s', (at, spec) => {
    expect(refused(spec)).toMatchObject({ code: 'config.event', at })
  })

  test.each([undefined, null, 'gate', []])('%s is no row', (spec) => {
    expect(refused(spec)).toMatchObject({ code: 'config.event' })
  })
})
