import type { Decision } from '../engine/core/decision.ts'
import { systemClock } from '../engine/core/time/clock.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { AgentHooks, HookCallOptions } from './agent-hooks.ts'
import { inputRecord, toolInputFrom } from './clone-for-hooks.ts'

/** One call of a tool. */
export interface SdkToolCall {
  readonly name: string
  /** A call without the runner of the SDK may have no id, or an empty one. */
  readonly id: string | undefined
  readonly input: unknown
  readonly about?: HookCallOptions
}

/** The events that decide about a tool call before it runs. */
export type ToolGateEvent = 'pre_tool_use' | 'permission_request'

/** Asks the hooks whether a tool may run. */
export function askTool(
  agentHooks: AgentHooks,
  call: SdkToolCall,
  event: ToolGateEvent = 'pre_tool_use',
): Promise<Decision> {
  return agentHooks.gate(event, payloadOf(call), aboutOf(call))
}

/** The input that the tool gets. */
export function decidedInput({ input: changed }: Decision, input: unknown): unknown {
  return changed === undefined ? input : toolInputFrom(changed, input)
}

/** Sends how a tool ended to the hooks. */
export interface StartedTool {
  /** Returns the result, which hooks may have replaced, and their context. */
  done(response: unknown): Promise<{ readonly result: unknown; readonly context: readonly string[] }>
  /** Returns the context of the hooks. */
  failed(error: unknown, isInterrupt?: boolean): Promise<readonly string[]>
}

/** Begins to measure how long the tool runs. */
export function startTool(agentHooks: AgentHooks, call: SdkToolCall): StartedTool {
  const since = systemClock.elapsed()
  const payload = payloadOf(call)
  const about = aboutOf(call)
  return {
    async done(tool_response) {
      const duration_ms = Math.round(systemClock.elapsed() - since)
      const result = { ...payload, tool_response, duration_ms }
      const { input, context = [] } = await agentHooks.transform('post_tool_use', result, about)
      return { result: input === undefined ? tool_response : structuredClone(input), context }
    },
    async failed(error, is_interrupt) {
      const failure = { ...payload, error, ...definedFields({ is_interrupt }) }
      const { context = [] } = await agentHooks.transform('post_tool_use_failure', failure, about)
      return context
    },
  }
}

function payloadOf({ name, id, input }: SdkToolCall) {
  return { tool_name: name, tool_input: inputRecord(input), ...definedFields({ tool_use_id: id }) }
}

function aboutOf({ id, about = {} }: SdkToolCall): HookCallOptions {
  return { ...about, envelope: { ...about.envelope, ...(id ? { toolCall: id } : {}) } }
}
