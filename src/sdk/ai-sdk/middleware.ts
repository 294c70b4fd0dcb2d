import type { LanguageModelMiddleware } from 'ai'
import type { AgentHooks } from '../agent-hooks.ts'
import { bothUsages, goingOn, type ModelAnswer, mustGoOn, transformAnswer } from './answer.ts'
import { createRequests } from './request.ts'
import { streamed } from './streamed.ts'
import { turnOf } from './turn.ts'

/** Hooks around a language model. `holdsStreams` keeps streamed answers back until hooks have seen the whole of them. */
export function hooksMiddleware(
  agentHooks: AgentHooks,
  holdsStreams: () => boolean,
): LanguageModelMiddleware {
  const requests = createRequests(agentHooks)

  return {
    specificationVersion: 'v4',
    transformParams: ({ params, model }) => requests.prepare({ model: model.modelId, params }),

    async wrapGenerate({ doGenerate, params, model }) {
      let answer: ModelAnswer = await doGenerate()
      let request = params
      const about = { envelope: turnOf(agentHooks, params.prompt) }
      for (let again = false; ; again = true) {
        if (agentHooks.listens('model_response')) {
          const changed = await transformAnswer(agentHooks, answer, { model: model.modelId, about })
          if (changed !== undefined) answer = { ...answer, ...changed }
        }
        const { content, finishReason } = answer
        const message = await mustGoOn(agentHooks, { content, finishReason, again, about })
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
      if (!agentHooks.listens('stop') && !agentHooks.listens('model_response')) return result
      const about = { envelope: turnOf(agentHooks, params.prompt) }
      const streaming = { agentHooks, requests, model, about, holds: holdsStreams() }
      return { ...result, stream: streamed(streaming, params, result.stream) }
    },
  }
}
