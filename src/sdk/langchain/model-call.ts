import { type AIMessage, SystemMessage } from '@langchain/core/messages'
import type { AgentMiddleware } from 'langchain'
import { isRecord } from '../../engine/core/check.ts'
import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import { changedMessages, plainMessage, withFields } from './messages.ts'

type Wrap = NonNullable<AgentMiddleware['wrapModelCall']>
type Request = Parameters<Wrap>[0]

export function modelName(model: unknown): string {
  if (!isRecord(model)) return ''
  const { model: name, modelName: other } = model
  if (typeof name === 'string') return name
  return typeof other === 'string' ? other : ''
}

/** `model_request`, with what the start of the session added to the instructions. */
export async function changedRequest(
  agentHooks: AgentHooks,
  given: Request,
  { about, context }: { about: HookCallOptions; context: readonly string[] },
): Promise<Request> {
  const added = context.length === 0 ? undefined : new SystemMessage(context.join('\n'))
  const request = added === undefined ? given : { ...given, systemMessage: given.systemMessage.concat(added) }
  if (!agentHooks.listens('model_request')) return request
  const { systemMessage, messages } = request
  const payload = {
    system: systemMessage.content,
    messages: messages.map(plainMessage),
    tools: request.tools.map(toolName),
  }
  const model = modelName(request.model)
  const { input: patch } = await agentHooks.transform('model_request', { model, request: payload }, about)
  if (!isRecord(patch)) return request
  const changed: Record<string, unknown> = structuredClone(patch)
  const { system = '', messages: said } = changed
  return {
    ...request,
    messages: Array.isArray(said) ? changedMessages(said, messages) : messages,
    systemMessage:
      JSON.stringify(system) === JSON.stringify(systemMessage.content)
        ? systemMessage
        : withFields(systemMessage, { content: system }),
  }
}

/** `model_response` */
export async function changedResponse(
  agentHooks: AgentHooks,
  message: AIMessage,
  { about, model }: { about: HookCallOptions; model: string },
): Promise<AIMessage> {
  if (!agentHooks.listens('model_response')) return message
  const response = plainMessage(message)
  const { input: patch } = await agentHooks.transform('model_response', { model, response }, about)
  if (!isRecord(patch)) return message
  const { type, ...fields }: Record<string, unknown> = structuredClone(patch)
  return withFields(message, fields)
}

function toolName(tool: unknown): string {
  return isRecord(tool) && typeof tool.name === 'string' ? tool.name : ''
}
