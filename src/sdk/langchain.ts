/** Entry point `hookhelm/langchain`: hooks as a middleware of LangChain agents. */

import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { type AgentMiddleware, createMiddleware } from 'langchain'
import { type AgentHooks, type AgentHooksOptions, createAgentHooks } from './agent-hooks.ts'
import {
  checkStop,
  modelName,
  submitPrompt,
  transformModelRequest,
  transformModelResponse,
} from './langchain/model-call.ts'
import { guardToolCall } from './langchain/tool-call.ts'

export type { AgentHooksOptions } from './agent-hooks.ts'

/** Options of `createHooksMiddleware`. */
export type LangChainOptions = AgentHooksOptions & {
  /**
   * What happens when a hook asks for approval. `interrupt` pauses the graph as LangChain's own human-in-the-loop middleware
   * does, and needs a checkpointer. `block`, the default, blocks the call.
   */
  readonly ask?: 'block' | 'interrupt'
}

/** How many started sessions the middleware remembers. */
const SESSIONS = 10_000

interface State {
  readonly messages: readonly BaseMessage[]
}

interface RunContext {
  readonly configurable?: { readonly thread_id?: string }
  readonly signal?: AbortSignal
}

/**
 * Creates a middleware that sends prompts, model calls and tool calls of an agent through the hooks. The thread id is the
 * session, unless `session` is given. List it first, so that the other middlewares see the changed input. Gates fail closed:
 * if no decision is made, the call is blocked.
 *
 * @example
 * const agent = createAgent({ model, tools, middleware: [createHooksMiddleware({ hooks })] })
 */
export function createHooksMiddleware({ ask = 'block', ...options }: LangChainOptions): AgentMiddleware {
  const root = createAgentHooks(options, 'langchain')
  const sessionContexts = new Map<string, Promise<readonly string[]>>()

  const at = ({ messages }: State, { configurable, signal }: RunContext) => {
    const thread = configurable?.thread_id
    const agentHooks =
      options.session !== undefined || thread === undefined ? root : root.at({ session: thread })
    const turn = options.turn ?? String(messages.filter((each) => HumanMessage.isInstance(each)).length)
    return { agentHooks, about: { envelope: { turn }, signal } }
  }
  /** Context from `session_start` hooks, requested once per session. */
  const startSession = (agentHooks: AgentHooks, { messages }: State): Promise<readonly string[]> => {
    const { session = '' } = agentHooks.envelope
    const known = sessionContexts.get(session)
    if (known !== undefined) return known
    const source = messages.some((message) => AIMessage.isInstance(message)) ? 'resume' : 'startup'
    const context = agentHooks
      .transform('session_start', { source })
      .then((decision) => decision.context ?? [])
    sessionContexts.set(session, context)
    const oldest = sessionContexts.size > SESSIONS ? sessionContexts.keys().next().value : undefined
    if (oldest !== undefined) sessionContexts.delete(oldest)
    return context
  }

  return createMiddleware({
    name: 'hookhelm',
    beforeAgent: {
      canJumpTo: ['end'],
      async hook(state, runtime) {
        const { agentHooks, about } = at(state, runtime)
        await startSession(agentHooks, state)
        return submitPrompt(agentHooks, state.messages, about)
      },
    },
    async wrapModelCall(request, handler) {
      const { agentHooks, about } = at(request.state, request.runtime)
      const model = modelName(request.model)
      const context = await startSession(agentHooks, request.state)
      const message = await handler(await transformModelRequest(agentHooks, request, { about, context }))
      return transformModelResponse(agentHooks, message, { about, model })
    },
    afterModel: {
      canJumpTo: ['model'],
      hook(state, runtime) {
        const { agentHooks, about } = at(state, runtime)
        return checkStop(agentHooks, state.messages, about)
      },
    },
    wrapToolCall(request, handler) {
      const { agentHooks, about } = at(request.state, request.runtime)
      return guardToolCall(agentHooks, request, { handler, about, asks: ask === 'interrupt' })
    },
  })
}
