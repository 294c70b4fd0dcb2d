import type { HookContext } from '../engine/core/context.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { toWireEvent } from './wire-event.ts'

/** The fields of run events. Agents get all other events as commands and webhooks do. */
const runFields: Readonly<Record<string, readonly string[]>> = {
  run_start: ['parameters', 'agent_name', 'session_id', 'run_id'],
  run_result: ['parameters', 'result', 'agent_name', 'session_id', 'run_id'],
  run_error: ['parameters', 'status', 'error', 'session_id', 'run_id', 'agent_name'],
  run_timeout: ['parameters', 'status', 'error', 'session_id', 'run_id', 'agent_name'],
  run_finish: [
    ...['parameters', 'result_text', 'result_data', 'status', 'error'],
    ...['session_id', 'run_id', 'agent_name'],
  ],
}

/** The input of a run hook: the documented fields of its point, or the whole event. */
export function createRunHookInput(
  payload: unknown,
  context: HookContext,
): Readonly<Record<string, unknown>> {
  const event = toWireEvent(payload, context)
  const names = runFields[context.event]
  if (names === undefined) return event
  const own = isRecord(payload) ? payload : {}
  return Object.fromEntries(names.map((name) => [name, own[name] ?? event[name] ?? null]))
}

/** The key with which an answer replaces the input of an event. */
const changeKeys: Readonly<Record<string, 'parameters' | 'result'>> = {
  run_start: 'parameters',
  run_result: 'result',
  pre_tool_use: 'parameters',
  permission_request: 'parameters',
}

/** The key with which the answer to an event changes its input; undefined if it cannot. */
export function changeKeyOf(event: string): 'parameters' | 'result' | undefined {
  return Object.hasOwn(changeKeys, event) ? changeKeys[event] : undefined
}

/** Whether the event only informs its hooks, so that their answers mean nothing. */
export function ignoresAnswers(event: string): boolean {
  return event === 'run_finish' || event === 'run_error' || event === 'run_timeout'
}
