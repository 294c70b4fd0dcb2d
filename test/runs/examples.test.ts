import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openExample, runExamples } from './run-examples.fixture.ts'

const HANG = 120_000

test('the seed’s four use cases are all here', () => {
  expect(runExamples).toEqual(['audit-log', 'chain-agents', 'enrich-parameters', 'validate-parameters'])
})

test(
  'chain-agents: AO-41 the end of one agent starts the next, as a child with its result',
  async () => {
    const { finish, child } = await openExample('chain-agents')
    const { run, result } = await finish('data-extractor', { source: 'orders.csv' })
    expect(run).toMatchObject({ status: 'completed', error: null })
    // The caller has the result at once.
    expect(result.result_data.records).toHaveLength(3)
    const next = await child('data-processor', run.session_id)
    expect(next.run).toMatchObject({ status: 'completed', parent_run_id: run.run_id })
    expect(next.result.result_data).toEqual({ orders: 3, totals: { Ada: 42, Grace: 15 } })
    const failed = await finish('data-extractor', { source: 'missing.csv' })
    expect(failed.run).toMatchObject({ status: 'failed' })
    const after = await child('data-processor', failed.run.session_id)
    expect(after.result.result_data).toEqual({ orders: 0, totals: {} })
  },
  HANG,
)

test(
  'enrich-parameters: AO-13 AO-24 a hook adds what callers do not know, and the run keeps both versions',
  async () => {
    const { finish } = await openExample('enrich-parameters')
    const { run, result } = await finish('report-generator', { report_id: 'R123' })
    expect(run).toMatchObject({
      ...{ status: 'completed', original_parameters: { report_id: 'R123' } },
      parameters: { report_id: 'R123', resolved_path: 'reports/R123.csv' },
    })
    expect(result.result_data).toEqual({ report_id: 'R123', rows: 3 })
    const missing = await finish('report-generator', { report_id: 'R999' })
    expect(missing.run).toMatchObject({ status: 'failed', block_reason: 'There is no report R999.' })
  },
  HANG,
)

test(
  'validate-parameters: AO-25 AO-46 a hook blocks a dangerous run before anything happens',
  async () => {
    const { finish, gateway } = await openExample('validate-parameters')
    const good = await finish('table-query', { sql: 'SELECT name FROM people' })
    expect(good.run).toMatchObject({ status: 'completed', original_parameters: null })
    expect(good.result.result_data).toEqual({ rows: [{ name: 'Ada' }, { name: 'Grace' }] })
    const bad = await finish('table-query', { sql: 'DROP TABLE people' })
    expect(bad.run).toMatchObject({
      ...{ status: 'failed', started_at: null, runner_id: null },
      block_reason: 'table-query may only read: one SELECT without a semicolon.',
    })
    const { body } = await gateway.call('GET', `/sessions/${bad.run.session_id}/events`)
    expect(body.events).toContainEqual(
      expect.objectContaining({
        ...{ event_type: 'hook_blocked', hook_type: 'on_run_start', run_id: bad.run.run_id },
        ...{ target_type: 'agent', target_name: 'security-validator', block_reason: bad.run.block_reason },
      }),
    )
  },
  HANG,
)

test(
  'audit-log: AO-38 a hook writes every run down, failed ones too, with its parameters and its text',
  async () => {
    const { finish, child, folder } = await openExample('audit-log')
    const good = await finish('translator', { word: 'helm' })
    expect(good.result).toMatchObject({ result_text: 'das Ruder', result_data: null })
    const bad = await finish('translator', { word: 'mast' })
    for (const { run } of [good, bad]) await child('audit-logger', run.session_id)
    const lines = readFileSync(join(folder, 'audit.jsonl'), 'utf8').trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line))
    const entryOf = (id: string) => entries.find(({ run_id }) => run_id === id)
    expect(entryOf(good.run.run_id)).toMatchObject({
      ...{ agent_name: 'translator', status: 'completed', parameters: { word: 'helm' } },
      ...{ result_text: 'das Ruder', error: null },
    })
    expect(entryOf(bad.run.run_id)).toMatchObject({
      ...{ status: 'failed', parameters: { word: 'mast' }, result_text: null },
      error: expect.stringContaining('I do not know the word'),
    })
  },
  HANG,
)
