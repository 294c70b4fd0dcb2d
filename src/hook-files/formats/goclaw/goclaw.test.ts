import { describe, expect, test } from 'vitest'
import { imported, refused } from '../../../../test/hook-files/imported.fixture.ts'
import { importFile } from '../../../agents/import-file.ts'
import type { ImportSource } from '../import-format.ts'

const importGoClaw = (given: ImportSource) => importFile(given, 'goclaw')
const importQualityGates = (given: ImportSource) => importFile(given, 'quality-gates')

const row = { event: 'pre_tool_use', handler_type: 'command', scope: 'tenant', config: { command: 'cat' } }

describe('rows', () => {
  test('keep what a hook is, and lose what only a database needs', async () => {
    const { definitions, notes } = await imported(
      importGoClaw([
        {
          ...row,
          id: '0193a5b0-7000-7000-8000-000000000002',
          tenant_id: '0193a5b0-7000-7000-8000-000000000001',
          name: 'Safety',
          matcher: '^exec$',
          if_expr: '',
          timeout_ms: 3_000,
          on_timeout: 'block',
          priority: 5,
          enabled: false,
          version: 3,
          source: 'ui',
          agent_ids: ['a'],
        },
      ]),
    )
    expect(definitions).toEqual([
      {
        id: '0193a5b0-7000-7000-8000-000000000002',
        event: 'pre_tool_use',
        handler_type: 'command',
        scope: 'tenant',
        name: 'Safety',
        matcher: '^exec$',
        timeout_ms: 3_000,
        on_timeout: 'block',
        answer: 'strict',
        priority: 5,
        enabled: false,
        config: { command: 'cat' },
      },
    ])
    expect(notes).toEqual([
      expect.stringContaining('/0/agent_ids: '),
      expect.stringContaining('/0/tenant_id: tenant_id has no equivalent'),
    ])
  })

  test('GC-10 a timeout of 0 stood for the default, and longer ones are welcome in a file', async () => {
    const { definitions } = await imported(
      importGoClaw({
        hooks: [
          { ...row, timeout_ms: 0 },
          { ...row, timeout_ms: 60_000 },
        ],
      }),
    )
    expect(definitions.map(({ timeout_ms }) => timeout_ms)).toEqual([undefined, 60_000])
    expect(await refused(importGoClaw([{ ...row, timeout_ms: -1 }]))).toMatchObject([
      { code: 'config.range', pointer: '/0/timeout_ms' },
    ])
  })

  test('GC-13 a row that does not say is on', async () => {
    expect((await imported(importGoClaw([row]))).definitions[0]).not.toHaveProperty('enabled')
  })

  test('GC-5 the scope of agents needs one, and the old single field counts', async () => {
    expect(
      (await imported(importGoClaw([{ ...row, scope: 'agent', agent_id: 'a' }]))).definitions,
    ).toMatchObject([{ agent_ids: ['a'] }])
    expect(await refused(importGoClaw([{ ...row, scope: 'agent' }]))).toMatchObject([
      { code: 'config.field', pointer: '/0' },
    ])
  })

  test.each([
    ['GC-9 an unknown event', { ...row, event: 'pre_tol_use' }, 'input.unknown_event'],
    ['GC-9 an unknown handler', { ...row, handler_type: 'sing' }, 'config.field'],
    ['GC-11 a policy that was reserved', { ...row, on_timeout: 'ask' }, 'config.field'],
    [
      'GC-14 a prompt without a matcher',
      { ...row, handler_type: 'prompt', config: { prompt_template: 'x' } },
      'config.prompt_needs_matcher',
    ],
    ['GC-16 a matcher that does not compile', { ...row, matcher: '(' }, 'match.syntax'],
    ['GC-16 a condition that does not compile', { ...row, if_expr: '1 +' }, 'match.cel_syntax'],
  ])('%s is refused', async (_, given, code) => {
    expect(await refused(importGoClaw([given]))).toMatchObject([{ code }])
  })

  test('encrypted headers cannot be carried over', async () => {
    const { notes } = await imported(
      importGoClaw([
        {
          ...row,
          handler_type: 'http',
          config: { url: 'https://a.example', headers: { Authorization: 'x' } },
        },
      ]),
    )
    expect(notes).toEqual([expect.stringContaining('write them again')])
  })
})

describe('GC-128 the old quality gates', () => {
  const gate = { event: 'delegation.completed', type: 'command', command: 'npm test' }

  test('that only look stay behind the delegation', async () => {
    const { definitions, notes } = await imported(importQualityGates({ quality_gates: [gate] }))
    expect(definitions).toEqual([
      {
        event: 'subagent_stop',
        handler_type: 'command',
        answer: 'strict',
        config: { command: 'npm test' },
      },
    ])
    expect(notes).toEqual([])
  })

  test('that block move before it, without retries', async () => {
    const { definitions, notes } = await imported(
      importQualityGates({
        other_config: {
          quality_gates: [{ ...gate, block_on_failure: true, max_retries: 2, timeout_seconds: 3 }],
        },
      }),
    )
    expect(definitions).toMatchObject([{ event: 'subagent_start', timeout_ms: 3_000 }])
    expect(notes).toEqual([
      expect.stringContaining('before the delegation'),
      expect.stringContaining('max_retries'),
    ])
  })

  test('that asked an agent ask a model', async () => {
    const { definitions, notes } = await imported(
      importQualityGates({
        quality_gates: [{ event: 'delegation.completed', type: 'agent', agent: 'reviewer' }],
      }),
    )
    expect(definitions).toMatchObject([
      {
        event: 'subagent_stop',
        handler_type: 'prompt',
        matcher: '.*',
        config: { prompt_template: expect.stringContaining('reviewer') },
      },
    ])
    expect(notes).toEqual([expect.stringContaining('a model judges')])
  })

  test('of another event never existed', async () => {
    expect(await refused(importQualityGates({ quality_gates: [{ ...gate, event: 'x' }] }))).toMatchObject([
      { code: 'config.field' },
    ])
    expect(
      await refused(
        importQualityGates({ quality_gates: [{ event: 'delegation.completed', type: 'command' }] }),
      ),
    ).toMatchObject([{ code: 'config.field' }])
  })
})
