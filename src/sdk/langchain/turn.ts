import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import { messageOf, refusalOf } from '../refusal.ts'
import { appended, reworded, withFields } from './messages.ts'

interface Change {
  readonly messages: BaseMessage[]
  readonly jumpTo?: 'end' | 'model'
}

/** `user_prompt_submit`: what becomes of the newest message, when something does. */
export async function submitted(
  agentHooks: AgentHooks,
  messages: readonly BaseMessage[],
  about: HookCallOptions,
): Promise<Change | undefined> {
  const message = messages.at(-1)
  if (!HumanMessage.isInstance(message) || !agentHooks.listens('user_prompt_submit')) return undefined
  const payload = { prompt: message.text, source: 'sdk' }
  const decision = await agentHooks.gate('user_prompt_submit', payload, about)
  const refusal = refusalOf(decision)
  if (refusal !== undefined) {
    // A refused prompt is taken out, or the model would read it with the next one.
    const erased = withFields(message, { content: '[refused by a hook]' })
    return { messages: [erased, new AIMessage(refusal)], jumpTo: 'end' }
  }
  const { input: patch, context = [] } = decision
  if (typeof patch !== 'string' && context.length === 0) return undefined
  const worded = typeof patch === 'string' ? reworded(message.content, patch) : message.content
  const content = context.length === 0 ? worded : appended(worded, context.join('\n'))
  return { messages: [withFields(message, { content })] }
}

/** `stop`: a message that makes the model go on, when it must. */
export async function stopped(
  agentHooks: AgentHooks,
  messages: readonly BaseMessage[],
  about: HookCallOptions,
): Promise<Change | undefined> {
  const message = messages.at(-1)
  if (!AIMessage.isInstance(message) || !agentHooks.listens('stop')) return undefined
  if ((message.tool_calls?.length ?? 0) > 0) return undefined
  const again = messages.at(-2)?.additional_kwargs.hookhelm === 'go on'
  const payload = { stop_hook_active: again, last_assistant_message: message.text }
  const decision = await agentHooks.gate('stop', payload, about)
  if (decision.kind !== 'block') return undefined
  const goOn = new HumanMessage({
    content: messageOf(decision),
    additional_kwargs: { hookhelm: 'go on' },
  })
  return { messages: [goOn], jumpTo: 'model' }
}
