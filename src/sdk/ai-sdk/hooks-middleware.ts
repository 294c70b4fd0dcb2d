import type { LanguageModelMiddleware } from 'ai'
import type { AgentHooks } from '../agent-hooks.ts'
import { createModelRequests, type SessionSource, turnEnvelope } from './model-request.ts'
import {
  addUsage,
  continueMessage,
  continueRequest,
  type ModelResponse,
  transformResponse,
} from './model-response.ts'
import { streamWithHooks } from './streamed-response.ts'

/** Hooks around a language model. With `holdsStreams`, a stream waits until the hooks have seen the whole response. */
export function hooksMiddleware(
  agentHooks: AgentHooks,
  holdsStreams: () => boolean,
  source: SessionSource = 'startup',
): LanguageModelMiddleware {
  const requests = createModelRequests(agentHooks, source)

  return {
    specificationVersion: 'v4',
    transformParams: ({ params, model }) => requests.prepare({ model: model.modelId, params }),

    async wrapGenerate({ doGenerate, params, model }) {
      let response: ModelResponse = await doGenerate()
      let request = params
      const about = { envelope: turnEnvelope(agentHooks, params.prompt) }
      for (let again = false; ; again = true) {
        if (agentHooks.listens('model_response')) {
          const changed = await transformResponse(agentHooks, response, { model: model.modelId, about })
          if (changed !== undefined) response = { ...response, ...changed }
        }
        const { content, finishReason } = response
        const message = await continueMessage(agentHooks, { content, finishReason, again, about })
        if (message === undefined) return response
        request = await requests.transform({
          model: model.modelId,
          params: continueRequest(request, content, message),
        })
        const next = await model.doGenerate(request)
        response = {
          ...next,
          content: [...content, ...next.content],
          usage: addUsage(response.usage, next.usage),
        }
      }
    },

    async wrapStream({ doStream, params, model }) {
      const result = await doStream()
      if (!agentHooks.listens('stop') && !agentHooks.listens('model_response')) return result
      const about = { envelope: turnEnvelope(agentHooks, params.prompt) }
      const streaming = { agentHooks, requests, model, about, holds: holdsStreams() }
      return { ...result, stream: streamWithHooks(streaming, params, result.stream) }
    },
  }
}

/** `model_request` and `model_response` only, for a call that neither has a prompt of the user nor ends the agent's turn. */
export function requestHooksMiddleware(agentHooks: AgentHooks): LanguageModelMiddleware {
  const requests = createModelRequests(agentHooks)
  return {
    specificationVersion: 'v4',
    transformParams: ({ params, model }) => requests.transform({ model: model.modelId, params }),
    async wrapGenerate({ doGenerate, params, model }) {
      const response = await doGenerate()
      const about = { envelope: turnEnvelope(agentHooks, params.prompt) }
      const changed = await transformResponse(agentHooks, response, { model: model.modelId, about })
      return { ...response, ...changed }
    },
  }
}
