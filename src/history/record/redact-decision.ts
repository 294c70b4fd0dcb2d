import type { Decision } from '../../engine/core/decision.ts'
import type { Execution } from '../../engine/core/records/sink.ts'
import type { Trace } from '../../engine/core/records/trace.ts'
import { redact } from '../../safe/secrets/redact.ts'

const MAX_TEXT = 1_024

/**
 * A decision as callers and the record get it. Thrown errors become one redacted line; their full text is encrypted in
 * the row.
 */
export function redactDecision(decision: Decision): Decision {
  const { code, reason, message, trace } = decision
  if (code === undefined && trace === undefined) return decision
  return {
    ...decision,
    ...(code === undefined || reason === undefined ? {} : { reason: redact(reason, MAX_TEXT) }),
    ...(code === undefined || message === undefined ? {} : { message: redact(message, MAX_TEXT) }),
    ...(trace === undefined ? {} : { trace: redactTrace(trace) }),
  }
}

export function redactTrace(trace: Trace): Trace {
  const hooks = trace.hooks.map((hook) => ({ ...hook, executions: hook.executions.map(redactExecution) }))
  return { ...trace, hooks }
}

function redactExecution({ detail: _, ...execution }: Execution): Execution {
  const { reason, facts } = execution
  return {
    ...execution,
    ...(reason === undefined ? {} : { reason: redact(reason, MAX_TEXT) }),
    ...(facts === undefined ? {} : { facts: redactFacts(facts) }),
  }
}

function redactFacts(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? redact(value) : value]),
  )
}
