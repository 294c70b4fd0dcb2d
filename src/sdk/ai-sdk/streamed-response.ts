import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import type { ModelRequests, Request } from './model-request.ts'
import {
  addUsage,
  continueMessage,
  continueRequest,
  type LanguageModel,
  type ModelResponse,
  type ResponseContent,
  transformResponse,
} from './model-response.ts'

type Stream = Awaited<ReturnType<LanguageModel['doStream']>>['stream']
type Part = Stream extends ReadableStream<infer P> ? P : never
type Finish = Extract<Part, { type: 'finish' }>

export interface StreamContext {
  readonly agentHooks: AgentHooks
  readonly requests: ModelRequests
  readonly model: LanguageModel
  readonly about: HookCallOptions
  /** Hold the parts back until the hooks have seen the whole response. */
  readonly holds: boolean
}

/** Sends a streamed response through the hooks. Only its end waits for them, unless the stream is held back. */
export function streamWithHooks(streaming: StreamContext, params: Request, first: Stream): Stream {
  return ReadableStream.from(streamResponses(streaming, params, first))
}

async function* streamResponses(
  streaming: StreamContext,
  first: Request,
  stream: Stream,
): AsyncGenerator<Part> {
  const { agentHooks, requests, model, about } = streaming
  let params = first
  let current = stream
  let usage: ModelResponse['usage'] | undefined
  for (let again = false; ; again = true) {
    const response = yield* streamOneResponse(streaming, current, again)
    const { finish } = response
    if (finish === undefined) return
    usage = usage === undefined ? finish.usage : addUsage(usage, finish.usage)
    const message = await continueMessage(agentHooks, {
      content: response.content,
      finishReason: finish.finishReason,
      again,
      about,
    })
    if (message === undefined) return yield { ...finish, usage }
    params = await requests.transform({
      model: model.modelId,
      params: continueRequest(params, response.content, message),
    })
    current = (await model.doStream(params)).stream
  }
}

interface StreamedResponse {
  readonly content: ResponseContent
  /** Not forwarded yet: it would end the response for the reader. */
  readonly finish: Finish | undefined
}

/** Streams one response without its `finish` part. */
async function* streamOneResponse(
  { agentHooks, model, about, holds }: StreamContext,
  stream: Stream,
  again: boolean,
): AsyncGenerator<Part, StreamedResponse> {
  const held: Part[] = []
  const parts = new PartCollector()
  let finish: Finish | undefined
  for await (const part of stream) {
    if (part.type === 'finish') {
      finish = part
      continue
    }
    // The second response continues the first, so its start is dropped.
    if (again && (part.type === 'stream-start' || part.type === 'response-metadata')) continue
    parts.add(part)
    if (holds) held.push(part)
    else yield part
  }
  const { content } = parts
  if (finish === undefined || !agentHooks.listens('model_response')) {
    yield* held
    return { content, finish }
  }
  const transformed = transformResponse(agentHooks, { ...finish, content }, { model: model.modelId, about })
  if (!holds) {
    void transformed.then((changed) => {
      if (changed !== undefined)
        agentHooks.log('agent.undelivered', {
          event: 'model_response',
          reason: 'the response was already streamed',
        })
    })
    return { content, finish }
  }
  const changed = await transformed
  if (changed === undefined) {
    yield* held
    return { content, finish }
  }
  yield* held.filter((part) => part.type === 'stream-start' || part.type === 'response-metadata')
  yield* changed.content.flatMap((part, index) => partsOf(part, String(index)))
  return { content: changed.content, finish: { ...finish, finishReason: changed.finishReason } }
}

/** Builds the content of a response from its parts. */
class PartCollector {
  readonly content: ResponseContent = []
  readonly #open = new Map<string, { type: 'text' | 'reasoning'; text: string }>()

  add(part: Part): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block = {
          type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
          text: '',
        }
        this.#open.set(`${block.type} ${part.id}`, block)
        this.content.push(block)
        return
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#open.get(`${part.type === 'text-delta' ? 'text' : 'reasoning'} ${part.id}`)
        if (block !== undefined) block.text += part.delta
        return
      }
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'reasoning-file':
      case 'source':
      case 'custom':
        this.content.push(part)
    }
  }
}

/** Splits content into the parts of a stream. */
function partsOf(part: ResponseContent[number], id: string): Part[] {
  if (part.type === 'text')
    return [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: part.text },
      { type: 'text-end', id },
    ]
  if (part.type === 'reasoning')
    return [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta: part.text },
      { type: 'reasoning-end', id },
    ]
  return [part]
}
