import { createHash } from 'node:crypto'
import {
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { EventRecord } from '../audit-tables.ts'

/** Emits one span per execution, below the caller's span if there is one. Does nothing without an installed tracer. */
export function emitSpans(
  record: EventRecord,
  traceparent: string | undefined,
  tracer: Tracer | undefined = ours(),
): void {
  if (tracer === undefined) return
  const parent = trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceIdOf(traceparent, record.event_id),
    spanId: parentSpanOf(traceparent, record.event_id),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
  let startedAt = record.time
  for (const execution of record.executions) {
    const isBad = execution.decision === 'error' || execution.decision === 'timeout'
    const span = tracer.startSpan(
      `hook.${execution.handler_type}.${record.event}`,
      {
        kind: SpanKind.INTERNAL,
        startTime: startedAt,
        attributes: {
          status: isBad ? 'error' : 'completed',
          duration_ms: execution.duration_ms,
          'metadata.decision': execution.decision,
          'hook.id': execution.hook_id,
          'hook.shadow': execution.shadow,
          'tenant.id': record.tenant,
        },
      },
      parent,
    )
    if (isBad)
      span.setStatus({
        code: SpanStatusCode.ERROR,
        ...(execution.error === null ? {} : { message: execution.error }),
      })
    startedAt += execution.duration_ms
    span.end(startedAt)
  }
}

/** A no-op until a program installs a provider. */
function ours(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer('hookhelm')
  return provider.getTracer('hookhelm')
}

/** The caller's span, or one derived from the event. */
function parentSpanOf(traceparent: string | undefined, eventId: string): string {
  const given =
    traceparent === undefined ? undefined : /^[\da-f]{2}-[\da-f]{32}-([\da-f]{16})-/.exec(traceparent)?.[1]
  return given ?? traceIdOf(undefined, eventId).slice(0, 16)
}

/** The W3C trace id of an event: the caller's, or one derived from the event's id. */
export function traceIdOf(traceparent: string | undefined, eventId: string): string {
  const given = traceparent === undefined ? undefined : /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent)?.[1]
  if (given !== undefined && !/^0+$/.test(given)) return given
  const hex = eventId.replaceAll('-', '').toLowerCase()
  if (/^[\da-f]{32}$/.test(hex)) return hex
  return createHash('sha256').update(eventId).digest('hex').slice(0, 32)
}
