import type { RunContext } from '@openai/agents'
import type { Decision } from '../../engine/core/decision.ts'
import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import { inputRecord } from '../clone-for-hooks.ts'

export interface AgentsToolCall {
  readonly name: string
  readonly callId: string
  readonly input: unknown
}

/** `pre_tool_use`, asked once per call: approval, guardrail and tool come one after the other and share the answer. */
export interface AgentsToolGate {
  ask(context: RunContext, call: AgentsToolCall): Promise<Decision>
  /** Asks again next time: a person was asked, and much may have changed until the answer. */
  forget(context: RunContext, callId: string): void
}

export function createAgentsToolGate(agentHooks: AgentHooks): AgentsToolGate {
  // Ids of calls are unique within a run, not between runs.
  const runs = new WeakMap<RunContext, Map<string, Promise<Decision>>>()
  return {
    ask(context, { name, callId, input }) {
      const calls = runs.get(context) ?? new Map<string, Promise<Decision>>()
      runs.set(context, calls)
      const known = calls.get(callId)
      if (known !== undefined) return known
      const payload = { tool_name: name, tool_input: inputRecord(input), tool_use_id: callId }
      const asked = agentHooks.gate('pre_tool_use', payload, aboutCall(callId))
      // Without an id a call is like no other.
      if (callId !== '') calls.set(callId, asked)
      return asked
    },
    forget: (context, callId) => void runs.get(context)?.delete(callId),
  }
}

/** A call past the runner has no id. */
export function aboutCall(callId: string): HookCallOptions {
  return callId === '' ? {} : { envelope: { toolCall: callId } }
}

/** Arguments as the model wrote them; text that is no JSON stays one. */
export function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return text
  }
}
