import type { AgentHooks, HookCallOptions } from '../agent-hooks.ts'
import {
  bothUsages,
  type Content,
  goingOn,
  type Model,
  type ModelAnswer,
  mustGoOn,
  transformAnswer,
} from './answer.ts'
import type { Request } from './prompt.ts'
import type { Requests } from './request.ts'

type Stream = Awaited<ReturnType<Model['doStream']>>['stream']
type Part = Stream extends ReadableStream<infer P> ? P : never
type Finish = Extract<Part, { type: 'finish' }>

export interface Streaming {
  readonly agentHooks: AgentHooks
  readonly requests: Requests
  readonly model: Model
  readonly about: HookCallOptions
  /** Keep the answer back until hooks have seen the whole of it. */
  readonly holds: boolean
}

/** An answer that comes in pieces. Only its end waits for hooks, unless it is held back. */
export function streamed(streaming: Streaming, params: Request, first: Stream): Stream {
  return ReadableStream.from(pieces(streaming, params, first))
}

async function* pieces(streaming: Streaming, first: Request, stream: Stream): AsyncGenerator<Part> {
  const { agentHooks, requests, model, about } = streaming
  let params = first
  let current = stream
  let usage: ModelAnswer['usage'] | undefined
  for (let again = false; ; again = true) {
    const heard = yield* oneAnswer(streaming, current, again)
    const { finish } = heard
    if (finish === undefined) return
    usage = usage === undefined ? finish.usage : bothUsages(usage, finish.usage)
    const message = await mustGoOn(agentHooks, {
      content: heard.content,
      finishReason: finish.finishReason,
      again,
      about,
    })
    if (message === undefined) return yield { ...finish, usage }
    params = await requests.transform({
      model: model.modelId,
      params: goingOn(params, heard.content, message),
    })
    current = (await model.doStream(params)).stream
  }
}

interface Heard {
  readonly content: Content
  /** Kept back: whoever sees it takes the answer to be over. */
  readonly finish: Finish | undefined
}

/** Passes on one answer without its end. */
async function* oneAnswer(
  { agentHooks, model, about, holds }: Streaming,
  stream: Stream,
  again: boolean,
): AsyncGenerator<Part, Heard> {
  const held: Part[] = []
  const parts = new Gathered()
  let finish: Finish | undefined
  for await (const part of stream) {
    if (part.type === 'finish') {
      finish = part
      continue
    }
    // The second answer goes on where the first was, so it does not begin.
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
  const asked = transformAnswer(agentHooks, { ...finish, content }, { model: model.modelId, about })
  if (!holds) {
    void asked.then((changed) => {
      if (changed !== undefined)
        agentHooks.log('agent.undelivered', {
          event: 'model_response',
          reason: 'the answer was streamed already',
        })
    })
    return { content, finish }
  }
  const changed = await asked
  if (changed === undefined) {
    yield* held
    return { content, finish }
  }
  yield* held.filter((part) => part.type === 'stream-start' || part.type === 'response-metadata')
  yield* changed.content.flatMap((part, index) => spelled(part, String(index)))
  return { content: changed.content, finish: { ...finish, finishReason: changed.finishReason } }
}

/** Pieces put together again. */
class Gathered {
  readonly content: Content = []
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

/** A whole part as the pieces it would have come in. */
function spelled(part: Content[number], id: string): Part[] {
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
