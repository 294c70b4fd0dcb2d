import { asSchema, type ToolSet } from 'ai'
import { errorText } from '../../engine/core/error.ts'
import type { AgentHooks } from '../agent-hooks.ts'
import { inputRecord, restoreUnchanged, toolInputFrom } from '../clone-for-hooks.ts'
import { messageOf } from '../refusal.ts'
import { turnOf } from './turn.ts'

export type AnyTool = ToolSet[string]

export interface AiToolCall {
  readonly toolName: string
  readonly toolCallId: string
  readonly input: unknown
  readonly tool: AnyTool | undefined
  /** Whether a changed input would reach the tool. */
  readonly takesRewrite: boolean
  readonly messages: readonly { readonly role: string }[]
  readonly signal?: AbortSignal | undefined
}

/** What the hooks say about one tool call, with the input that may run. */
export interface AiToolVerdict {
  readonly kind: 'allow' | 'ask' | 'block'
  readonly grant: boolean
  readonly message: string
  readonly input: unknown
  readonly context: readonly string[]
}

/** `pre_tool_use`, asked once per call: the approval asks, and the tool finds the answer when it runs. */
export interface AiToolGate {
  ask(call: AiToolCall): Promise<AiToolVerdict>
  /** Leaves a verdict for the tool that is called with this very input. */
  leave(input: unknown, verdict: AiToolVerdict): void
  take(input: unknown): AiToolVerdict | undefined
}

export function createAiToolGate(agentHooks: AgentHooks): AiToolGate {
  // By identity: the parsed input of a call is an object of its own, while ids of calls repeat with some providers.
  const left = new WeakMap<object, AiToolVerdict>()
  return {
    async ask(call) {
      const { toolName, toolCallId, input, messages, signal } = call
      const decision = await agentHooks.gate(
        'pre_tool_use',
        { tool_name: toolName, tool_input: inputRecord(input), tool_use_id: toolCallId },
        { envelope: { ...turnOf(agentHooks, messages), toolCall: toolCallId }, signal },
      )
      const { kind, grant = false, input: changed, context = [] } = decision
      const verdict: AiToolVerdict = { kind, grant, message: messageOf(decision), input, context }
      return kind === 'block' || changed === undefined ? verdict : rewritten(verdict, call, changed)
    },
    leave(input, verdict) {
      if (isObject(input)) left.set(input, verdict)
    },
    take(input) {
      if (!isObject(input)) return undefined
      const verdict = left.get(input)
      left.delete(input)
      return verdict
    },
  }
}

/** A changed input is held against the tool's own schema, as the one that the model wrote was. */
async function rewritten(
  verdict: AiToolVerdict,
  { tool, input, takesRewrite }: AiToolCall,
  changed: unknown,
): Promise<AiToolVerdict> {
  const refuse = (message: string): AiToolVerdict => ({ ...verdict, kind: 'block', grant: false, message })
  if (!takesRewrite) return refuse('a hook changed the input of a tool that does not run here')
  const checked = await validated(tool?.inputSchema, restoreUnchanged(toolInputFrom(changed, input), input))
  if ('error' in checked) return refuse(`a hook changed the input to one the tool refuses: ${checked.error}`)
  return { ...verdict, input: checked.value }
}

/** The value as a schema wants it. */
export async function validated(
  schema: AnyTool['inputSchema'] | undefined,
  value: unknown,
): Promise<{ readonly value: unknown } | { readonly error: string }> {
  if (schema === undefined || schema === null) return { value }
  try {
    const result = await asSchema(schema).validate?.(value)
    if (result === undefined) return { value }
    return result.success ? { value: result.value } : { error: errorText(result.error) }
  } catch (thrown) {
    return { error: errorText(thrown) }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
