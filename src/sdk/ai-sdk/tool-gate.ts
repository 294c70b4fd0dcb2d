import { asSchema, type ToolSet } from 'ai'
import type { Kind } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { type AgentHooks, messageOf } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { askTool, decidedInput, type ToolGateEvent } from '../tool-call.ts'
import { turnEnvelope } from './model-request.ts'

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

/** The decision about one tool call, with the input that the tool gets. */
export interface AiToolDecision {
  readonly kind: Kind
  readonly grant: boolean
  readonly message: string
  readonly input: unknown
  readonly context: readonly string[]
}

/** Asks the hooks once per call. The approval stores the decision, and the tool takes it when it runs. */
export interface AiToolGate {
  ask(call: AiToolCall): Promise<AiToolDecision>
  /** Stores a decision for the tool that is called with this same input object. */
  store(input: unknown, decision: AiToolDecision): void
  take(input: unknown): AiToolDecision | undefined
}

/** Each event gets the input that the one before it left. The first that does not allow the call decides. */
export function createAiToolGate(
  agentHooks: AgentHooks,
  eventsOf: (toolName: string) => readonly ToolGateEvent[] = () => ['pre_tool_use'],
): AiToolGate {
  // By identity: each call has its own input object, while some providers repeat call ids.
  const stored = new WeakMap<object, AiToolDecision>()

  async function askAt(event: ToolGateEvent, call: AiToolCall): Promise<AiToolDecision> {
    const { toolName: name, toolCallId: id, input, messages, signal } = call
    const about = { envelope: turnEnvelope(agentHooks, messages), signal }
    const decision = await askTool(agentHooks, { name, id, input, about }, event)
    const { kind, grant = false, input: changed, context = [] } = decision
    const result: AiToolDecision = { kind, grant, message: messageOf(decision), input, context }
    return kind === 'block' || changed === undefined
      ? result
      : applyInput(result, call, decidedInput(decision, input))
  }

  return {
    async ask(call) {
      const [first = 'pre_tool_use', ...others] = eventsOf(call.toolName)
      let decision = await askAt(first, call)
      for (const event of others) {
        if (decision.kind !== 'allow') break
        const { context, input } = decision
        decision = await askAt(event, { ...call, input })
        decision = { ...decision, context: [...context, ...decision.context] }
      }
      return decision
    },
    store(input, decision) {
      if (isObject(input)) stored.set(input, decision)
    },
    take(input) {
      if (!isObject(input)) return undefined
      const decision = stored.get(input)
      stored.delete(input)
      return decision
    },
  }
}

/** Checks a changed input against the tool's schema, as the SDK checked the model's. */
async function applyInput(
  decision: AiToolDecision,
  { tool, input, takesRewrite }: AiToolCall,
  changed: unknown,
): Promise<AiToolDecision> {
  const refuse = (message: string): AiToolDecision => ({ ...decision, kind: 'block', grant: false, message })
  if (!takesRewrite) return refuse('a hook changed the input of a tool that does not run here')
  const checked = await validateWith(tool?.inputSchema, restoreUnchanged(changed, input))
  if ('error' in checked)
    return refuse(`a hook changed the input to one that the tool does not accept: ${checked.error}`)
  return { ...decision, input: checked.value }
}

/** Returns the value as the schema transforms it, or what is wrong with it. */
export async function validateWith(
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
