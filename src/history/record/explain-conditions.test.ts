import { describe, expect, test } from 'vitest'
import { toolCallInput } from '../../../test/engine/match.fixture.ts'
import type { Trace, TraceHook } from '../../engine/core/records/trace.ts'
import { explainConditions, type KnownCondition } from '../../stored-hooks/saving/explain-conditions.ts'

const input = toolCallInput('exec', { cmd: 'ls' })
const hook = (id: string, more: Partial<TraceHook> = {}): TraceHook => ({
  hook: id,
  matched: true,
  executions: [],
  ...more,
})

function explain(
  hooks: readonly TraceHook[],
  known: Readonly<Record<string, KnownCondition>>,
  steps: Parameters<typeof explainConditions>[2]['steps'] = [],
) {
  const trace: Trace = {
    event: 'pre_tool_use',
    id: 'e',
    time: 10,
    subject: 'exec',
    hooks,
    merges: [],
    durationMs: 1,
  }
  return explainConditions(trace, (id) => known[id], { input, steps, time: 10 }).hooks
}

describe('the condition of each hook in a trace', () => {
  test('is shown where it was evaluated: it held, was false, or failed', () => {
    const known = { a: { if_expr: 'size(tool_input.cmd) > 80' }, b: { if_expr: 'depth == 0' }, c: {} }
    const missed = hook('a', { matched: false, because: 'if_expr is false' })
    expect(explain([missed, hook('b'), hook('c')], known)).toEqual([
      {
        ...missed,
        condition: { terms: [{ source: 'size(tool_input.cmd) > 80', holds: false, value: '2' }] },
      },
      { ...hook('b'), condition: { terms: [{ source: 'depth == 0', holds: true }] } },
      hook('c'),
    ])
  })

  test('is left out where the name decided before it', () => {
    const byName = hook('a', { matched: false, because: 'matcher ^Write$ does not match "exec"' })
    expect(explain([byName], { a: { if_expr: 'depth == 0' } })).toEqual([byName])
  })

  test('looks at the input as earlier hooks left it', () => {
    const steps = [{ hook: 'a', before: { cmd: 'ls' }, after: { cmd: 'ls -la' } }]
    const known = { a: { if_expr: 'size(tool_input.cmd) != 0' }, b: { if_expr: 'size(tool_input.cmd) != 0' } }
    const values = explain([hook('a'), hook('b')], known, steps).map(
      ({ condition }) => condition?.terms[0]?.value,
    )
    expect(values).toEqual(['2', '6'])
  })

  test('says so if the hook has changed since', () => {
    const known = {
      a: { if_expr: 'depth == 0', updated_at: 11 },
      b: { if_expr: 'depth == 0', updated_at: 9 },
    }
    const since = explain([hook('a'), hook('b')], known).map(({ condition }) => condition?.changedSince)
    expect(since).toEqual([true, undefined])
  })

  test('shows no secret of the payload', () => {
    const secret = `sk-ant-api03-${'a1B2'.repeat(12)}`
    const trace: Trace = {
      event: 'pre_tool_use',
      id: 'e',
      time: 10,
      subject: 'exec',
      hooks: [hook('a')],
      merges: [],
      durationMs: 1,
    }
    const [explained] = explainConditions(trace, () => ({ if_expr: 'tool_input.cmd != ""' }), {
      input: toolCallInput('exec', { cmd: `curl -H "Authorization: Bearer ${secret}"` }),
      steps: [],
      time: 10,
    }).hooks
    expect(JSON.stringify(explained)).toContain('curl')
    expect(JSON.stringify(explained)).not.toContain(secret)
  })
})
