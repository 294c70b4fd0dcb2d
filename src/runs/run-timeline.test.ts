import { expect, test } from 'vitest'
import { readRunPhases, refusesRun, type TimelineEvent } from './run-timeline.ts'

const at = (ms: number) => new Date(ms).toISOString()
const event = (ms: number, event_type: string, more: object = {}): TimelineEvent => ({
  ...{ event_type, run_id: 'run_1', timestamp: at(ms) },
  ...more,
})
const start = { hook_type: 'on_run_start', target_type: 'agent', target_name: 'resolver' }
const run = { run_id: 'run_1', created_at: 1_000, started_at: null, completed_at: null }
const spans = (phases: ReturnType<typeof readRunPhases>) =>
  phases.map(({ kind, start: from, end, hook }) => [hook?.state ?? kind, from, end])

test('AO-58 a run with a start hook and a finish hook: queue, hook, waiting, running, hook', () => {
  const ended = { ...run, started_at: 1_500, completed_at: 2_000 }
  const events = [
    event(1_100, 'hook_start', { ...start, hook_session_id: 'hook_1' }),
    event(1_400, 'hook_complete', {
      ...{ ...start, hook_session_id: 'hook_1', duration_ms: 290 },
      ...{ changed_fields: ['path'], original: {}, changed: { path: '/x' } },
    }),
    event(2_050, 'hook_start', { ...start, hook_type: 'on_run_finish', target_name: 'mail' }),
    event(2_060, 'hook_start', { ...start, run_id: 'run_2' }),
  ]
  expect(spans(readRunPhases(ended, events))).toEqual([
    ['queued', 1_000, 1_100],
    ['changed', 1_100, 1_400],
    ['waiting', 1_400, 1_500],
    ['running', 1_500, 2_000],
    ['running', 2_050, null],
  ])
})

test('AO-58 a block without a start event of its own takes the time that it names', () => {
  // The end of the run is written a little later. That is no waiting for a runner.
  const blocked = { ...run, completed_at: 1_320 }
  const facts = { ...start, block_reason: 'Not on Sundays.', duration_ms: 50 }
  const phases = readRunPhases(blocked, [event(1_300, 'hook_blocked', facts)])
  expect(spans(phases)).toEqual([
    ['queued', 1_000, 1_250],
    ['blocked', 1_250, 1_300],
  ])
  expect(phases[1]?.hook).toMatchObject({ reason: 'Not on Sundays.', target: 'resolver' })
})

test('while hooks run, nothing waits; each hook tells itself what it changed', () => {
  const events = [
    event(1_100, 'hook_start', { ...start, hook_session_id: 'a' }),
    event(1_200, 'hook_complete', { ...start, hook_session_id: 'a' }),
    event(1_210, 'hook_start', { ...start, hook_session_id: 'b' }),
  ]
  expect(spans(readRunPhases(run, events))).toEqual([
    ['queued', 1_000, 1_100],
    ['continued', 1_100, 1_200],
    ['running', 1_210, null],
  ])
  const change = { changed_fields: ['path'], original: { path: 1 }, changed: { path: 2 } }
  const second = event(1_300, 'hook_complete', { ...start, hook_session_id: 'b', ...change })
  const phases = readRunPhases(run, [...events, second])
  expect(spans(phases).map(([state]) => state)).toEqual(['queued', 'continued', 'changed', 'waiting'])
  expect(phases[2]?.hook?.change).toEqual({ fields: ['path'], original: { path: 1 }, changed: { path: 2 } })
})

test('a refusal of the result refuses the run, and one of a tool call does not', () => {
  const refusals = ['on_run_start', 'on_result', 'on_tool_call', 'on_run_finish'].map((point) =>
    refusesRun({ point, targetType: 'agent', target: 'a', state: 'blocked' }),
  )
  expect(refusals).toEqual([true, true, false, false])
})
