import type { LanguageModelMiddleware } from 'ai'
import type { Asker } from '../asker.ts'
import { type Answer, bothUsages, goingOn, mustGoOn, transformAnswer } from './answer.ts'
import { createRequests } from './request.ts'
import { streamed } from './streamed.ts'
import { turnOf } from './turn.ts'

/** Hooks around a language model. `holdsStreams` keeps streamed answers back until hooks have seen the whole of them. */
export function hooksMiddleware(asker: Asker, holdsStreams: () => boolean): LanguageModelMiddleware {
  const requests = createRequests(asker)

  return {
    specificationVersion: 'v4',
    transformParams: ({ params, model }) => requests.prepare({ model: model.modelId, params }),

    async wrapGenerate({ doGenerate, params, model }) {
      let answer: Answer = await doGenerate()
      let request = params
      const about = { envelope: turnOf(asker, params.prompt) }
      for (let again = false; ; again = true) {
        if (asker.listens('model_response')) {
          const changed = await transformAnswer(asker, answer, { model: model.modelId, about })
          if (changed !== undefined) answer = { ...answer, ...changed }
        }
        const { content, finishReason } = answer
        const message = await mustGoOn(asker, { content, finishReason, again, about })
        if (message === undefined) return answer
        request = await requests.transform({
          model: model.modelId,
          params: goingOn(request, content, message),
        })
        const next = await model.doGenerate(request)
        answer = {
          ...next,
          content: [...content, ...next.content],
          usage: bothUsages(answer.usage, next.usage),
        }
      }
    },

    async wrapStream({ doStream, params, model }) {
      const result = await doStream()
      if (!asker.listens('stop') && !asker.listens('model_response')) return result
      const about = { envelope: turnOf(asker, params.prompt) }
      const streaming = { asker, requests, model, about, holds: holdsStreams() }
      return { ...result, stream: streamed(streaming, params, result.stream) }
    },
  }
}
