import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import type { AgentMiddleware } from 'langchain'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type AgentHooks, type HookCallOptions, messageOf, refusalOf } from '../agent-hooks.ts'
import { appendText, plainMessage, replaceText, restoreMessages, withFields } from './messages.ts'

type Wrap = NonNullable<AgentMiddleware['wrapModelCall']>
type Request = Parameters<Wrap>[0]

export function modelName(model: unknown): string {
  if (!isRecord(model)) return ''
  const { model: name, modelName: other } = model
  if (typeof name === 'string') return name
  return typeof other === 'string' ? other : ''
}

/** Dispatches `model_request`, after adding the context of `session_start` hooks to the instructions. */
export async function transformModelRequest(
  agentHooks: AgentHooks,
  original: Request,
  { about, context }: { about: HookCallOptions; context: readonly string[] },
): Promise<Request> {
  const added = context.length === 0 ? undefined : new SystemMessage(context.join('\n'))
  const request =
    added === undefined ? original : { ...original, systemMessage: original.systemMessage.concat(added) }
  if (!agentHooks.listens('model_request')) return request
  const { systemMessage, messages } = request
  const payload = {
    system: systemMessage.content,
    messages: messages.map(plainMessage),
    tools: request.tools.map(toolName),
  }
  const model = modelName(request.model)
  const { input } = await agentHooks.transform('model_request', { model, request: payload }, about)
  if (!isRecord(input)) return request
  const changed: Record<string, unknown> = structuredClone(input)
  const { system = '', messages: changedMessages } = changed
  return {
    ...request,
    messages: Array.isArray(changedMessages) ? restoreMessages(changedMessages, messages) : messages,
    systemMessage:
      JSON.stringify(system) === JSON.stringify(systemMessage.content)
        ? systemMessage
        : withFields(systemMessage, { content: system }),
  }
}

/** Dispatches `model_response`. */
export async function transformModelResponse(
  agentHooks: AgentHooks,
  message: AIMessage,
  { about, model }: { about: HookCallOptions; model: string },
): Promise<AIMessage> {
  if (!agentHooks.listens('model_response')) return message
  const response = plainMessage(message)
  const { input } = await agentHooks.transform('model_response', { model, response }, about)
  if (!isRecord(input)) return message
  const { type, ...fields }: Record<string, unknown> = structuredClone(input)
  return withFields(message, fields)
}

function toolName(tool: unknown): string {
  return isRecord(tool) && typeof tool.name === 'string' ? tool.name : ''
}

interface StateUpdate {
  readonly messages: BaseMessage[]
  readonly jumpTo?: 'end' | 'model'
}

/** Dispatches `user_prompt_submit`. Returns the change to the newest message, or undefined. */
export async function submitPrompt(
  agentHooks: AgentHooks,
  messages: readonly BaseMessage[],
  about: HookCallOptions,
): Promise<StateUpdate | undefined> {
  const message = messages.at(-1)
  if (!HumanMessage.isInstance(message) || !agentHooks.listens('user_prompt_submit')) return undefined
  const payload = { prompt: message.text, source: 'sdk' }
  const decision = await agentHooks.gate('user_prompt_submit', payload, about)
  const refusal = refusalOf(decision)
  if (refusal !== undefined) {
    // Otherwise the model would read the refused prompt together with the next one.
    const erased = withFields(message, { content: '[refused by a hook]' })
    return { messages: [erased, new AIMessage(refusal)], jumpTo: 'end' }
  }
  const { input, context = [] } = decision
  if (typeof input !== 'string' && context.length === 0) return undefined
  const edited = typeof input === 'string' ? replaceText(message.content, input) : message.content
  const content = context.length === 0 ? edited : appendText(edited, context.join('\n'))
  return { messages: [withFields(message, { content })] }
}

/** Dispatches `stop`. Returns the message that makes the model continue, or undefined. */
export async function checkStop(
  agentHooks: AgentHooks,
  messages: readonly BaseMessage[],
  about: HookCallOptions,
): Promise<StateUpdate | undefined> {
  const message = messages.at(-1)
  if (!AIMessage.isInstance(message) || !agentHooks.listens('stop')) return undefined
  if ((message.tool_calls?.length ?? 0) > 0) return undefined
  const again = messages.at(-2)?.additional_kwargs.hookhelm === 'go on'
  const payload = { stop_hook_active: again, last_assistant_message: message.text }
  const decision = await agentHooks.gate('stop', payload, about)
  if (decision.kind !== 'block') return undefined
  const next = new HumanMessage({
    content: messageOf(decision),
    additional_kwargs: { hookhelm: 'go on' },
  })
  return { messages: [next], jumpTo: 'model' }
}
