import { defineEvent } from '../core/event.ts'
import { anything, object, optional, record, shape, text } from '../core/schema/check.ts'

const run = { run_id: optional(text), session_id: optional(text), agent_name: optional(text) }
const RUN_TIMEOUT_MS = 300_000

export const runEvents = {
  run_start: defineEvent({
    about: 'A runner claimed a run, before it starts.',
    mode: 'gate',
    payload: shape({ ...run, parameters: record }),
    rewrites: 'parameters',
    subject: 'agent_name',
    timeoutMs: RUN_TIMEOUT_MS,
    aliases: ['on_run_start'],
  }),
  run_finish: defineEvent({
    about: 'A run reached a terminal state.',
    mode: 'observe',
    payload: shape({
      ...run,
      parameters: optional(record),
      status: optional(text),
      result_text: optional(anything),
      result_data: optional(anything),
      error: optional(anything),
    }),
    subject: 'agent_name',
    timeoutMs: RUN_TIMEOUT_MS,
    aliases: ['on_run_finish'],
  }),
  run_result: defineEvent({
    about: 'Before the result of a run is stored.',
    mode: 'gate',
    payload: shape({ ...run, result: object<object>() }),
    rewrites: 'result',
    subject: 'agent_name',
    timeoutMs: RUN_TIMEOUT_MS,
    aliases: ['on_result'],
  }),
  run_error: defineEvent({
    about: 'A run failed.',
    mode: 'observe',
    payload: shape({ ...run, error: optional(anything) }),
    subject: 'agent_name',
    aliases: ['on_error'],
  }),
  run_timeout: defineEvent({
    about: 'A run took too long.',
    mode: 'observe',
    payload: shape({ ...run, error: optional(anything) }),
    subject: 'agent_name',
    aliases: ['on_timeout'],
  }),
}
