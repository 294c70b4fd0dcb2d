import type { AgentInputItem, CallModelInputFilter, InputGuardrail } from '@openai/agents'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type AgentHooks, refusalOf } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { type MessageFormat, type PromptEdit, PromptEdits } from '../prompt-edits.ts'

/** The guardrail submits prompts to the hooks, and the filter applies their changes to each request. */
export interface PromptHooks {
  readonly guardrail: InputGuardrail
  filter(own: CallModelInputFilter | undefined): CallModelInputFilter
}

/** Without `outputInfo` the SDK cannot read a saved run. */
const PASSED = { tripwireTriggered: false, outputInfo: {} }

export function createPromptHooks(hooksOf: (agent: unknown) => AgentHooks): PromptHooks {
  const edits = new PromptEdits(messageFormat)
  let sessionContext: Promise<readonly string[]> | undefined
  const startSession = (agentHooks: AgentHooks): Promise<readonly string[]> => {
    sessionContext ??= agentHooks
      .transform('session_start', { source: 'startup' })
      .then((decision) => decision.context ?? [])
    return sessionContext
  }

  return {
    guardrail: {
      name: 'hookhelm',
      // The model must wait for the decision.
      runInParallel: false,
      async execute({ agent, input }) {
        const agentHooks = hooksOf(agent)
        await startSession(agentHooks)
        const items = typeof input === 'string' ? [userMessage(input)] : input
        const text = messageFormat.userText(items.at(-1) as AgentInputItem)
        if (text === undefined) return PASSED
        const decision = await agentHooks.gate('user_prompt_submit', { prompt: text, source: 'sdk' })
        const refusal = refusalOf(decision)
        if (refusal !== undefined) return { tripwireTriggered: true, outputInfo: { message: refusal } }
        edits.record(items as AgentInputItem[], text, decision)
        return PASSED
      },
    },

    filter: (own) => async (args) => {
      const agentHooks = hooksOf(args.agent)
      const modelData = (await own?.(args)) ?? args.modelData
      const context = await startSession(agentHooks)
      const instructions = [modelData.instructions, ...context].filter(Boolean).join('\n\n')
      const request = {
        input: edits.apply(modelData.input),
        ...(instructions === '' ? {} : { instructions }),
      }
      if (!agentHooks.listens('model_request')) return request
      const model = typeof args.agent.model === 'string' ? args.agent.model : ''
      const { input: changed } = await agentHooks.transform('model_request', { model, request })
      if (changed === undefined) return request
      return restoreUnchanged(structuredClone(changed), request) as typeof request
    },
  }
}

const messageFormat: MessageFormat<AgentInputItem> = {
  userText(item) {
    if (!isUserMessage(item)) return undefined
    const { content } = item
    if (typeof content === 'string') return content
    return content.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n')
  },
  applyEdit: (item, edit) =>
    isUserMessage(item) ? { ...item, content: editContent(item.content, edit) } : item,
}

type UserMessage = Extract<AgentInputItem, { role: 'user' }>

function editContent(content: UserMessage['content'], { text, context }: PromptEdit): UserMessage['content'] {
  if (typeof content === 'string') return [text ?? content, ...context].join('\n\n')
  const added = context.map((note) => ({ type: 'input_text' as const, text: note }))
  if (text === undefined) return [...content, ...added]
  const others = content.filter((part) => part.type !== 'input_text')
  return [{ type: 'input_text', text }, ...others, ...added]
}

function isUserMessage(item: unknown): item is UserMessage {
  return isRecord(item) && item.role === 'user'
}

function userMessage(content: string): AgentInputItem {
  return { type: 'message', role: 'user', content }
}
