import type { RunContext } from '@openai/agents'
import type { Decision } from '../../engine/core/decision.ts'
import type { AgentHooks } from '../agent-hooks.ts'
import { askTool } from '../tool-call.ts'

/** Dispatches `pre_tool_use` once per call. Approval, guardrail and tool share the decision. */
export interface AgentsToolGate {
  ask(context: RunContext, call: { name: string; callId: string; input: unknown }): Promise<Decision>
  /** Makes the next `ask` dispatch again, because a person's answer may take long. */
  forget(context: RunContext, callId: string): void
}

export function createAgentsToolGate(agentHooks: AgentHooks): AgentsToolGate {
  // Call ids are unique only within a run.
  const runs = new WeakMap<RunContext, Map<string, Promise<Decision>>>()
  return {
    ask(context, { name, callId, input }) {
      const calls = runs.get(context) ?? new Map<string, Promise<Decision>>()
      runs.set(context, calls)
      const known = calls.get(callId)
      if (known !== undefined) return known
      const asked = askTool(agentHooks, { name, id: callId, input })
      // Decisions of calls without an id cannot be shared.
      if (callId !== '') calls.set(callId, asked)
      return asked
    },
    forget: (context, callId) => void runs.get(context)?.delete(callId),
  }
}

/** Parses the model's arguments. Text that is not JSON stays text. */
export function parseArguments(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return text
  }
}
