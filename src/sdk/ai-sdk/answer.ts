import type { LanguageModelMiddleware } from 'ai'
import { isRecord } from '../../engine/core/check.ts'
import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import { messageOf } from '../refusal.ts'
import type { Request } from './prompt.ts'

export type Model = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]['model']
export type ModelAnswer = Awaited<ReturnType<Model['doGenerate']>>
export type Content = ModelAnswer['content']
type Usage = ModelAnswer['usage']

/** `model_response`: nothing when it stays as it is. */
export async function transformAnswer(
  agentHooks: AgentHooks,
  answer: Pick<ModelAnswer, 'content' | 'finishReason' | 'usage'>,
  { model, about }: { readonly model: string; readonly about: HookCallOptions },
): Promise<Pick<ModelAnswer, 'content' | 'finishReason'> | undefined> {
  const { content, finishReason, usage } = answer
  const response = { content, finishReason, usage }
  const { input: patch } = await agentHooks.transform('model_response', { model, response }, about)
  if (patch === undefined) return undefined
  const changed = restoreUnchanged(structuredClone(patch), response)
  if (!isRecord(changed)) return undefined
  return {
    content: Array.isArray(changed.content) ? changed.content : content,
    finishReason: isFinish(changed.finishReason) ? changed.finishReason : finishReason,
  }
}

function isFinish(value: unknown): value is ModelAnswer['finishReason'] {
  return isRecord(value) && typeof value.unified === 'string'
}

function saidIn(content: Content): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

interface Ending {
  readonly content: Content
  readonly finishReason: ModelAnswer['finishReason'] | undefined
  /** Whether it goes on because of a hook already. */
  readonly again: boolean
  readonly about: HookCallOptions
}

/** `stop`: what to tell the model when it must go on; nothing when it may end, or goes on anyway to run its tools. */
export async function mustGoOn(
  agentHooks: AgentHooks,
  { content, finishReason, again, about }: Ending,
): Promise<string | undefined> {
  if (!agentHooks.listens('stop') || finishReason?.unified !== 'stop') return undefined
  if (content.some((part) => part.type === 'tool-call')) return undefined
  const payload = {
    stop_hook_active: again,
    last_assistant_message: saidIn(content),
    stop_reason: finishReason.unified,
  }
  const decision = await agentHooks.gate('stop', payload, about)
  return decision.kind === 'block' ? messageOf(decision) : undefined
}

/** The request that makes the model go on. */
export function goingOn(params: Request, content: Content, message: string): Request {
  const said = saidIn(content)
  const before: Request['prompt'] =
    said === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text: said }] }]
  const prompt: Request['prompt'] = [
    ...params.prompt,
    ...before,
    { role: 'user', content: [{ type: 'text', text: message }] },
  ]
  return { ...params, prompt }
}

/** Two requests count as both. */
export function bothUsages(a: Usage, b: Usage): Usage {
  return added(a, b) as Usage
}

function added(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' || typeof b === 'number') return Number(a ?? 0) + Number(b ?? 0)
  if (!isRecord(a) || !isRecord(b)) return b ?? a
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, added(a[key], b[key])]))
}
