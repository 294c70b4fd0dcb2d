import { isRecord } from '../../engine/core/check.ts'
import type { HookContext } from '../../engine/core/context.ts'
import type { StartAgentRequest } from '../../engine/core/host.ts'
import { toWireEvent } from '../wire-event.ts'
import type { StartConfig } from './agent-config.ts'

/** What the handler asks of the host. */
export type AgentRequest = StartAgentRequest

/** The hooks of a run have an envelope of their own; every other event is given as commands and webhooks see it. */
const runFields: Readonly<Record<string, readonly string[]>> = {
  run_start: ['parameters', 'agent_name', 'session_id', 'run_id'],
  run_finish: [
    ...['parameters', 'result_text', 'result_data', 'status', 'error'],
    ...['session_id', 'run_id', 'agent_name'],
  ],
}

export function agentInput(payload: unknown, context: HookContext): Readonly<Record<string, unknown>> {
  const event = toWireEvent(payload, context)
  const names = runFields[context.event]
  if (names === undefined) return event
  const own = isRecord(payload) ? payload : {}
  return Object.fromEntries(names.map((name) => [name, own[name] ?? event[name] ?? null]))
}

export function agentRequest(
  config: StartConfig,
  input: AgentRequest['input'],
  context: HookContext,
): AgentRequest {
  const { tenant, session, run } = context.envelope
  const optional = {
    agent_name: config.agentName,
    prompt: config.prompt,
    model: config.model,
    output_schema: config.outputSchema,
    tenant_id: tenant,
    session_id: session,
    run_id: run,
  }
  const given = Object.entries(optional).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    input,
    depth: context.depth + 1,
    parent_event_id: context.id,
  }
}
