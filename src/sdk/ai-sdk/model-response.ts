import type { LanguageModelMiddleware } from 'ai'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type AgentHooks, type HookCallOptions, messageOf } from '../agent-hooks.ts'
import { restoreUnchanged } from '../clone-for-hooks.ts'
import type { Request } from './model-request.ts'

export type LanguageModel = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]['model']
export type ModelResponse = Awaited<ReturnType<LanguageModel['doGenerate']>>
export type ResponseContent = ModelResponse['content']
type Usage = ModelResponse['usage']

/** Dispatches `model_response`. Returns the changes, or undefined. */
export async function transformResponse(
  agentHooks: AgentHooks,
  result: Pick<ModelResponse, 'content' | 'finishReason' | 'usage'>,
  { model, about }: { readonly model: string; readonly about: HookCallOptions },
): Promise<Pick<ModelResponse, 'content' | 'finishReason'> | undefined> {
  const { content, finishReason, usage } = result
  const response = { content, finishReason, usage }
  const { input } = await agentHooks.transform('model_response', { model, response }, about)
  if (input === undefined) return undefined
  const changed = restoreUnchanged(structuredClone(input), response)
  if (!isRecord(changed)) return undefined
  return {
    content: Array.isArray(changed.content) ? changed.content : content,
    finishReason: isFinish(changed.finishReason) ? changed.finishReason : finishReason,
  }
}

function isFinish(value: unknown): value is ModelResponse['finishReason'] {
  return isRecord(value) && typeof value.unified === 'string'
}

function textOf(content: ResponseContent): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

interface FinishedResponse {
  readonly content: ResponseContent
  readonly finishReason: ModelResponse['finishReason'] | undefined
  /** A hook has already made the model continue. */
  readonly again: boolean
  readonly about: HookCallOptions
}

/** Dispatches `stop`. Returns the message that makes the model continue. Undefined if it may end or has tools to run. */
export async function continueMessage(
  agentHooks: AgentHooks,
  { content, finishReason, again, about }: FinishedResponse,
): Promise<string | undefined> {
  if (!agentHooks.listens('stop') || finishReason?.unified !== 'stop') return undefined
  if (content.some((part) => part.type === 'tool-call')) return undefined
  const payload = {
    stop_hook_active: again,
    last_assistant_message: textOf(content),
    stop_reason: finishReason.unified,
  }
  const decision = await agentHooks.gate('stop', payload, about)
  return decision.kind === 'block' ? messageOf(decision) : undefined
}

/** Returns the request that makes the model continue. */
export function continueRequest(params: Request, content: ResponseContent, message: string): Request {
  const text = textOf(content)
  const before: Request['prompt'] =
    text === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text }] }]
  const prompt: Request['prompt'] = [
    ...params.prompt,
    ...before,
    { role: 'user', content: [{ type: 'text', text: message }] },
  ]
  return { ...params, prompt }
}

/** Adds up the token counts of two requests. */
export function addUsage(a: Usage, b: Usage): Usage {
  return addNumbers(a, b) as Usage
}

function addNumbers(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' || typeof b === 'number') return Number(a ?? 0) + Number(b ?? 0)
  if (!isRecord(a) || !isRecord(b)) return b ?? a
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, addNumbers(a[key], b[key])]))
}
