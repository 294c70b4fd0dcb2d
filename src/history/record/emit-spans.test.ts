import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import type { EventRecord, ExecutionRecord } from '../audit-tables.ts'
import { emitSpans } from './emit-spans.ts'

const execution = (changes: Partial<ExecutionRecord>): ExecutionRecord => ({
  hook_id: 'h',
  handler_type: 'prompt',
  decision: 'allow',
  duration_ms: 12,
  retry: 0,
  dedup_key: 'h:e',
  code: null,
  error: null,
  error_detail: null,
  shadow: false,
  metadata: {},
  ...changes,
})

const record = (executions: readonly ExecutionRecord[]): EventRecord => ({
  tenant: 't',
  event_id: '0193a5b0-7000-7000-8000-0000000000aa',
  event: 'pre_tool_use',
  time: 1_000,
  session_id: null,
  agent_id: null,
  kind: 'allow',
  by_hook: null,
  code: null,
  duration_ms: 20,
  request: '{}',
  answer: '{}',
  executions,
})

function traced(given: EventRecord, traceparent?: string) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  emitSpans(given, traceparent, provider.getTracer('test'))
  return exporter.getFinishedSpans()
}

test('GC-99 every execution becomes a span hook.<handler>.<event> with status, duration and decision', () => {
  const failed = execution({ hook_id: 'g', handler_type: 'http', decision: 'error', error: 'refused' })
  const [first, second] = traced(record([execution({}), failed]))
  expect(first).toMatchObject({
    name: 'hook.prompt.pre_tool_use',
    attributes: { status: 'completed', duration_ms: 12, 'metadata.decision': 'allow', 'hook.id': 'h' },
    duration: [0, 12_000_000],
  })
  expect(second).toMatchObject({
    name: 'hook.http.pre_tool_use',
    attributes: { status: 'error', 'metadata.decision': 'error' },
    status: { code: 2, message: 'refused' },
  })
})

test('GC-99 spans hang below the span the caller named, or below the event', () => {
  const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const [named] = traced(record([execution({})]), parent)
  expect(named?.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
  expect(named?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
  const [alone] = traced(record([execution({})]))
  expect(alone?.spanContext().traceId).toBe('0193a5b070007000800000000000' + '00aa')
})
