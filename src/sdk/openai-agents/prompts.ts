import type { AgentInputItem, CallModelInputFilter, InputGuardrail } from '@openai/agents'
import { isRecord } from '../../engine/core/check.ts'
import type { AgentHooks } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { type Edit, Edits, type Spelling } from '../edits.ts'
import { refusalOf } from '../refusal.ts'

/** The guardrail for prompts and the filter for requests: what the one learns, the other carries out. */
export interface Prompts {
  readonly guardrail: InputGuardrail
  filter(own: CallModelInputFilter | undefined): CallModelInputFilter
}

/** Something must stand there, or a saved run cannot be read again. */
const PASSED = { tripwireTriggered: false, outputInfo: {} }

export function createPrompts(hooksOf: (agent: unknown) => AgentHooks): Prompts {
  const edits = new Edits(spelling)
  let begun: Promise<readonly string[]> | undefined
  const begin = (agentHooks: AgentHooks): Promise<readonly string[]> => {
    begun ??= agentHooks
      .transform('session_start', { source: 'startup' })
      .then((decision) => decision.context ?? [])
    return begun
  }

  return {
    guardrail: {
      name: 'hookhelm',
      // The model must not begin before the answer is there.
      runInParallel: false,
      async execute({ agent, input }) {
        const agentHooks = hooksOf(agent)
        await begin(agentHooks)
        const items = typeof input === 'string' ? [userMessage(input)] : input
        const text = spelling.userText(items.at(-1) as AgentInputItem)
        if (text === undefined) return PASSED
        const decision = await agentHooks.gate('user_prompt_submit', { prompt: text, source: 'sdk' })
        const refusal = refusalOf(decision)
        if (refusal !== undefined) return { tripwireTriggered: true, outputInfo: { message: refusal } }
        const { input: patch, context = [] } = decision
        if (typeof patch === 'string' || context.length > 0)
          edits.note(items as AgentInputItem[], text, {
            ...(typeof patch === 'string' ? { text: patch } : {}),
            context,
          })
        return PASSED
      },
    },

    filter: (own) => async (args) => {
      const agentHooks = hooksOf(args.agent)
      const modelData = (await own?.(args)) ?? args.modelData
      const context = await begin(agentHooks)
      const instructions = [modelData.instructions, ...context].filter(Boolean).join('\n\n')
      const request = {
        input: edits.apply(modelData.input),
        ...(instructions === '' ? {} : { instructions }),
      }
      if (!agentHooks.listens('model_request')) return request
      const model = typeof args.agent.model === 'string' ? args.agent.model : ''
      const { input: patch } = await agentHooks.transform('model_request', { model, request })
      if (patch === undefined) return request
      return restoreUnchanged(structuredClone(patch), request) as typeof request
    },
  }
}

const spelling: Spelling<AgentInputItem> = {
  userText(item) {
    if (!isUserMessage(item)) return undefined
    const { content } = item
    if (typeof content === 'string') return content
    return content.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n')
  },
  edited: (item, edit) => (isUserMessage(item) ? { ...item, content: reworded(item.content, edit) } : item),
}

type UserMessage = Extract<AgentInputItem, { role: 'user' }>

function reworded(content: UserMessage['content'], { text, context }: Edit): UserMessage['content'] {
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
