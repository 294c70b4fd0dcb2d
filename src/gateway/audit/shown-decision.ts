import type { Decision } from '../../engine/core/decision.ts'
import type { Execution } from '../../engine/core/sink.ts'
import type { Trace } from '../../engine/core/trace.ts'
import { redact } from '../../safe/redact.ts'

const MAX_TEXT = 1_024

/** A decision as it is answered and kept. What was thrown becomes a line without secrets: its whole text is in its row, sealed. */
export function shownDecision(decision: Decision): Decision {
  const { code, reason, message, trace } = decision
  if (code === undefined && trace === undefined) return decision
  return {
    ...decision,
    ...(code === undefined || reason === undefined ? {} : { reason: redact(reason, MAX_TEXT) }),
    ...(code === undefined || message === undefined ? {} : { message: redact(message, MAX_TEXT) }),
    ...(trace === undefined ? {} : { trace: shownTrace(trace) }),
  }
}

export function shownTrace(trace: Trace): Trace {
  const hooks = trace.hooks.map((hook) => ({ ...hook, executions: hook.executions.map(shownExecution) }))
  return { ...trace, hooks }
}

function shownExecution({ detail: _, ...execution }: Execution): Execution {
  const { reason, facts } = execution
  return {
    ...execution,
    ...(reason === undefined ? {} : { reason: redact(reason, MAX_TEXT) }),
    ...(facts === undefined ? {} : { facts: shownFacts(facts) }),
  }
}

function shownFacts(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, typeof value === 'string' ? redact(value) : value]),
  )
}
