import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { publishedHandlerTypes } from '../../../scripts/docs/hooks-schema.ts'
import { hookSchema, readHookDefinition } from '../../engine/hook-definition.ts'
import { readHookText } from '../read/read-hook-file.ts'
import { hookFileJsonSchema } from './json-schema.ts'

const least = { event: 'pre_tool_use', handler_type: 'command' }
const samples: Readonly<Record<string, unknown>> = {
  id: 'a',
  event: 'stop',
  handler_type: 'http',
  config: { command: 'true' },
  name: 'a',
  description: 'a',
  scope: 'tenant',
  agent_ids: ['a'],
  tags: ['a'],
  matcher: 'a',
  if_expr: 'true',
  match: { glob: '*', names: ['a'], fields: { a: null }, outcome: ['failed'], command: [{ program: 'rm' }] },
  opaque: 'ask',
  timeout_ms: 600_000,
  on_error: 'continue',
  on_timeout: 'ignore',
  on_invalid: 'block',
  answer: 'lenient',
  priority: -1_000_000,
  enabled: false,
  disabled_reason: 'breaker',
  tripped_by: 'timeout',
  locked: true,
  recheck: true,
  ask: 'host',
  approvers: 2,
  routes: ['on-call'],
  preapproves: true,
  expires_at: '2026-12-31T18:00:00Z',
  shadow: true,
  transform: true,
  cooldown_ms: 86_400_000,
  count_per: 'process',
  dedup_window_ms: 0,
  max_invocations_per_turn: 1,
  budget: { name: 'a', cost: 1, limit: 5 },
}

/** `continue` and `ignore` are read as `allow`. */
const policies = ['on_error', 'on_timeout', 'on_invalid']

describe('the schema of a hook', () => {
  test('each field has a sample here', () => {
    expect(Object.keys({ ...samples, version: 1 }).toSorted()).toEqual(
      Object.keys(hookSchema.fields).toSorted(),
    )
  })

  test.each(Object.entries(samples))('%s is read as it is written', (field, value) => {
    const read: unknown = policies.includes(field) ? expect.stringMatching(/^(allow|block)$/) : value
    expect(readHookDefinition({ ...least, [field]: value })).toEqual({ ...least, [field]: read })
  })

  test.each([
    ['timeout_ms', 0],
    ['timeout_ms', 600_001],
    ['timeout_ms', 1.5],
    ['priority', 1_000_001],
    ['cooldown_ms', -1],
    ['cooldown_ms', 86_400_001],
    ['dedup_window_ms', 86_400_001],
    ['max_invocations_per_turn', 0],
    ['on_error', 'explode'],
    ['scope', 'galaxy'],
    ['id', ''],
    ['match', { outcome: ['maybe'] }],
    ['match', { fields: { a: {} } }],
    ['budget', { name: 'a' }],
    ['agent_ids', [1]],
  ])('%s: %j is refused', (field, value) => {
    const hook = { ...least, [field]: value }
    expect(() => readHookDefinition(hook)).toThrow()
  })
})

describe('the published JSON Schema', () => {
  const schema = hookFileJsonSchema(publishedHandlerTypes)
  const accepts = new Ajv2020({ strict: false }).compile(schema)

  test('is the one in the package', () => {
    expect(JSON.parse(readFileSync('schema/hooks.schema.json', 'utf8'))).toEqual(schema)
  })

  const files: [string, boolean, unknown][] = [
    ['an empty one', true, { hooks: [] }],
    [
      'comments apart, one of everything',
      true,
      { $schema: 'x', version: 1, hooks: [{ ...least, config: { command: 'true' } }] },
    ],
    [
      'another spelling of an event',
      true,
      { hooks: [{ ...least, event: 'PreToolUse', config: { exec: ['true'] } }] },
    ],
    ['no hooks', false, { version: 1 }],
    ['version 9', false, { version: 9, hooks: [] }],
    ['an unknown field', false, { hooks: [{ ...least, config: { command: 'x' }, tiemout_ms: 5 }] }],
    [
      'a url that is a number',
      false,
      { hooks: [{ event: 'stop', handler_type: 'http', config: { url: 5 } }] },
    ],
    ['no config with a url', false, { hooks: [{ event: 'stop', handler_type: 'http' }] }],
    [
      'an unknown field of a config',
      false,
      { hooks: [{ ...least, handler_type: 'script', config: { source: '', sauce: '' } }] },
    ],
    [
      'a prompt that is too long',
      false,
      { hooks: [{ ...least, handler_type: 'agent', config: { prompt: 'x'.repeat(32_769) } }] },
    ],
    ['a timeout in words', false, { hooks: [{ ...least, config: { command: 'x' }, timeout_ms: '5s' }] }],
    ['recovery rules', false, { hooks: [], rules: { rules: [] } }],
    ['blueprints', false, { hooks: [], blueprints: [] }],
  ]

  test.each(files)('%s: agrees with the reader (%j)', (_, good, file) => {
    expect(accepts(file)).toBe(good)
    expect(readHookText(JSON.stringify(file), 'hooks.json').kind).toBe(good ? 'good' : 'bad')
  })
})
