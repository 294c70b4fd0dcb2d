import { expect, test } from 'vitest'
import { importBlueprints } from './blueprints.ts'
import { imported, refused } from './imported.fixture.ts'

const blueprint = {
  name: 'data-processor',
  type: 'autonomous',
  description: 'Processes data with validation and formatting',
  parameters_schema: {
    type: 'object',
    required: ['data_source'],
    properties: { data_source: { type: 'string' } },
  },
  output_schema: { type: 'object' },
  hooks: {
    on_run_start: { type: 'agent', agent_name: 'input-validator', on_error: 'block', timeout_seconds: 60 },
    on_run_finish: { type: 'agent', agent_name: 'audit-logger', on_error: 'continue', timeout_seconds: 30 },
  },
}
const withHook = (hook: object) => ({ ...blueprint, hooks: { on_run_start: hook } })

test('AO-1 AO-2 blueprints keep their shape and their hooks, one or many', () => {
  expect(imported(importBlueprints(blueprint))).toEqual({
    kind: 'imported',
    definitions: [],
    blueprints: [blueprint],
    notes: [],
  })
  expect(imported(importBlueprints([blueprint, { name: 'b' }])).blueprints).toHaveLength(2)
})

test('AO-3 AO-6 on_error may be missing, and the agent need not exist yet', () => {
  expect(imported(importBlueprints(withHook({ agent_name: 'later' }))).notes).toEqual([])
})

test('AO-7 null and {} are ways to have no hooks', () => {
  expect(
    imported(
      importBlueprints([
        { name: 'a', hooks: null },
        { name: 'b', hooks: {} },
      ]),
    ).blueprints,
  ).toHaveLength(2)
})

test.each([
  ['AO-1 a third hook point', { ...blueprint, hooks: { on_result: { agent_name: 'x' } } }],
  ['AO-1 an unknown key', withHook({ agent_name: 'x', mode: 'async' })],
  ['AO-2 a hook of another type', withHook({ type: 'http', agent_name: 'x' })],
  ['AO-2 a hook without an agent', withHook({ type: 'agent' })],
  ['AO-2 an unknown policy', withHook({ agent_name: 'x', on_error: 'explode' })],
])('%s is refused', (_, given) => {
  expect(refused(importBlueprints(given))[0]).toMatchObject({ code: 'config.field' })
})

test('AO-4 a timeout of 0 is taken and noted', () => {
  expect(
    imported(importBlueprints(withHook({ agent_name: 'data-processor', timeout_seconds: 0 }))).notes,
  ).toEqual([expect.stringContaining('ends the hook at once'), expect.stringContaining('starts itself')])
})
