import { parseJsonOrUndefined } from '../../agents/translate/read-fields.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { DispatchRecord, Execution, LateDispatch } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { KnownHook } from '../../stored-hooks/snapshots/snapshot.ts'
import type { EventRecord, ExecutionRecord, SessionPosition } from '../audit-tables.ts'
import { traceIdOf } from './emit-spans.ts'
import { summarizeDispatch } from './event-summary.ts'
import { redactDecision, redactTrace } from './redact-decision.ts'

/** What a record needs in addition to the dispatch itself. */
export interface RecordContext {
  readonly tenant: string
  /** The request as it was received. */
  readonly text: string | undefined
  /** The attempt of a delivery, counted from 1. */
  readonly attempt: number
  readonly find: (hook: string) => KnownHook | undefined
  /** Hook files that are not in use as they are written. */
  readonly files?: readonly string[]
}

/**
 * With a thousand hooks, their misses would be most of a record. The matcher of a stored hook shows which names it does
 * not match, so beyond this number `events.explain` computes misses on request.
 */
const MAX_RECORDED_MISSES = 20

/** Builds the stored record of a dispatch. */
export function toEventRecord(record: DispatchRecord, context: RecordContext): EventRecord {
  const { attempt, files = [] } = context
  const { decision } = record
  const made = record.trace({ maxMisses: MAX_RECORDED_MISSES })
  const trace = files.length === 0 ? made : { ...made, files }
  const rewriters = new Set(decision.steps?.map(({ hook }) => hook))
  return {
    ...recordedEvent(record, context),
    kind: decision.kind,
    by_hook: decision.by ?? null,
    code: decision.code ?? null,
    duration_ms: round(trace.durationMs),
    answer: JSON.stringify({ decision: redactDecision(decision), trace: redactTrace(trace) }),
    summary: summarizeDispatch(record, trace),
    executions: trace.hooks.flatMap(({ name, matched, executions }) =>
      executions.map((execution) => ({
        ...toExecution(execution, record, context, matched),
        tally: {
          ...(name === undefined ? {} : { hook_name: name }),
          rewrote: execution.recheck !== true && rewriters.has(execution.hook),
          repeated: execution.recheck === true || attempt > 1,
        },
      })),
    ),
  }
}

/** Builds the record of an event for which no hook ran: none could be loaded, or its client decided without the gateway. */
export function hooklessRecord(
  { event, id, payload, envelope, decision }: Omit<DispatchRecord, 'time' | 'executions' | 'trace'>,
  context: RecordContext,
): EventRecord {
  const time = envelope.time ?? 0
  const subject = isRecord(payload) && typeof payload.tool_name === 'string' ? payload.tool_name : ''
  const trace = { event, id, time, subject, hooks: [], merges: [], durationMs: 0 }
  const record = { event, id, time, payload, envelope, decision, executions: () => [], trace: () => trace }
  return toEventRecord(record, context)
}

/** The row of a result that came too late. The record of the event itself stays as it is. */
export function lateRecord(execution: Execution, late: LateDispatch, context: RecordContext): EventRecord {
  return {
    ...recordedEvent(late, context),
    ...{ kind: 'allow', by_hook: null, code: execution.code ?? null, duration_ms: 0, answer: '{}' },
    executions: [toExecution(execution, late, context, true)],
  }
}

/** What a record says about the event itself. */
function recordedEvent(
  { event, id, time, payload, envelope }: LateDispatch,
  { tenant, text }: Pick<RecordContext, 'tenant' | 'text'>,
) {
  return {
    ...{ tenant, event_id: id, event, time },
    session_id: envelope.session ?? null,
    agent_id: envelope.agentId ?? null,
    ...sessionPosition(envelope, payload),
    request: text ?? requestText(event, payload, envelope),
  }
}

/** The event as JSON. What a coding agent sent is there once: `raw` leaves out what the payload holds. */
function requestText(event: string, payload: unknown, envelope: Envelope): string {
  const { raw, ...rest } = envelope
  if (!isRecord(raw) || !isRecord(payload)) return JSON.stringify({ event, payload, envelope })
  const input = isRecord(payload.tool_input) ? payload.tool_input : {}
  const texts = new Set([...Object.values(payload), ...Object.values(input)].map(textOf))
  const own = Object.entries(raw).flatMap(([name, value]) => {
    if (isHeld(name, value, payload, texts)) return []
    // The arguments of a tool call may have other names, or be JSON in a text.
    const given = typeof value === 'string' && value.startsWith('{') ? parseJsonOrUndefined(value) : value
    if (!isRecord(given)) return [[name, value] as const]
    const rest = Object.entries(given).filter(([key, each]) => !isHeld(key, each, input, texts))
    return rest.length === 0 ? [] : [[name, Object.fromEntries(rest)] as const]
  })
  return JSON.stringify({ event, payload, envelope: { ...rest, raw: Object.fromEntries(own) } })
}

type Fields = Readonly<Record<string, unknown>>

/** A short value is only held under its own name: `true` says nothing by itself. */
function isHeld(name: string, value: unknown, held: Fields, texts: ReadonlySet<string>): boolean {
  const text = textOf(value)
  return text.length >= TELLING_LENGTH
    ? texts.has(text)
    : Object.hasOwn(held, name) && textOf(held[name]) === text
}

const TELLING_LENGTH = 64

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The position in the session, as far as the caller or earlier events give it. */
function sessionPosition(envelope: Envelope, payload: unknown): { moment?: SessionPosition } {
  const { session, agent, host, turn, lane, parentAgent, depth, toolCall } = envelope
  if (session === undefined) return {}
  const tool = isRecord(payload) ? payload.tool_name : undefined
  return {
    moment: definedFields({
      ...{ agent: host, turn, lane, parent: parentAgent, depth: depth || undefined, tool_call: toolCall },
      tool: typeof tool === 'string' ? tool : undefined,
      name: agent === host ? undefined : agent,
    }),
  }
}

function toExecution(
  execution: Execution,
  { id, envelope }: Pick<DispatchRecord, 'id' | 'envelope'>,
  { attempt, find }: RecordContext,
  matched: boolean | 'failed',
): ExecutionRecord {
  const { hook, decision, code, reason, durationMs = 0, shadow = false, facts = {} } = execution
  const row = find(hook)
  const hasFailed = decision !== 'allow' && decision !== 'ask' && decision !== 'block'
  const full = hasFailed || code !== undefined ? fullText(execution) : undefined
  const { stdout: _, stderr: __, ...otherFacts } = facts
  return {
    hook_id: hook,
    handler_type: row?.handler_type ?? 'function',
    decision,
    duration_ms: round(durationMs),
    retry: attempt - 1,
    dedup_key: keyOf(execution, id, attempt),
    code: code ?? null,
    error: full === undefined ? null : redact(reason ?? full),
    error_detail: full ?? null,
    shadow,
    metadata: {
      ...otherFacts,
      ...(row?.isInFile === true ? { hook } : {}),
      ...(row?.fileState === undefined ? {} : { file_state: row.fileState }),
      matcher_matched: true,
      ...(row?.if_expr ? { cel_eval_result: matched === 'failed' ? 'error' : true } : {}),
      ...(reason === undefined || full !== undefined ? {} : { reason: redact(reason) }),
      trace_id: traceIdOf(envelope.traceparent, id),
    },
  }
}

/** Several rows of one hook in one dispatch need different keys. */
function keyOf({ hook, recheck, decision }: Execution, eventId: string, attempt: number): string {
  const parts = [hook, eventId]
  if (recheck) parts.push('recheck')
  if (decision === 'late') parts.push('late')
  if (attempt > 1) parts.push(String(attempt))
  return parts.join(':')
}

/** All details of a failure: the thrown value, its causes, and the output of the handler. */
function fullText({ reason, detail, facts = {} }: Execution): string | undefined {
  const lines = [
    reason,
    ...causes(detail),
    ...(['stderr', 'stdout'] as const).flatMap((name) =>
      typeof facts[name] === 'string' ? [`${name}: ${facts[name]}`] : [],
    ),
  ]
  const texts = lines.filter((line): line is string => line !== undefined && line !== '')
  return texts.length === 0 ? undefined : [...new Set(texts)].join('\n')
}

const MAX_CAUSES = 5

function causes(thrown: unknown): string[] {
  const found: string[] = []
  for (let cause = thrown; cause !== undefined && found.length < MAX_CAUSES; ) {
    if (!(cause instanceof Error)) {
      if (typeof cause === 'string') found.push(cause)
      else if (isRecord(cause)) found.push(JSON.stringify(cause))
      break
    }
    found.push(cause.stack ?? cause.message)
    cause = cause.cause
  }
  return found
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
