import type { HookContext } from '../engine/core/context.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'

/** The event as commands, webhooks and scripts receive it: one flat object in snake_case. */
export type WireEvent = Readonly<Record<string, unknown>>

/**
 * Our fields overwrite the client's, so a client cannot forge the event, the tenant or the input that earlier hooks
 * rewrote.
 */
export function toWireEvent(payload: unknown, context: HookContext): WireEvent {
  const { envelope } = context
  const raw = isRecord(envelope.raw) ? envelope.raw : {}
  // The spelling of the client.
  const { hook_event_name: name } = raw
  const own = isRecord(payload) ? payload : {}
  // The client never chooses the tenant.
  const { tenant_id: _, ...theirs } = { ...raw, ...own }
  return {
    ...theirs,
    hook_event_name: typeof name === 'string' && name !== '' ? name : pascalCase(context.event),
    event: context.event,
    event_id: context.id,
    depth: context.depth,
    ...definedFields({
      tenant_id: envelope.tenant,
      agent_id: envelope.agentId,
      agent_name: envelope.agent,
      session_id: envelope.session,
      run_id: envelope.run,
      turn_id: envelope.turn,
      cwd: envelope.cwd,
      tool_use_id: own.tool_use_id ?? envelope.toolCall,
    }),
  }
}

/** `pre_tool_use` → `PreToolUse`, as most coding agents write it. */
function pascalCase(event: string): string {
  return event.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}
