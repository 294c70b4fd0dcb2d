/** The door for LangChain agents: hooks as a middleware. */
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { type AgentMiddleware, createMiddleware } from 'langchain'
import { type About, type Asker, createAsker, type HelmOptions } from './asker.ts'
import { changedRequest, changedResponse, modelName } from './langchain/model-call.ts'
import { guardToolCall } from './langchain/tool-call.ts'
import { stopped, submitted } from './langchain/turn.ts'

export type { HelmOptions } from './asker.ts'

export type LangChainOptions = HelmOptions & {
  /**
   * `interrupt` pauses the graph and asks as LangChain's own human-in-the-loop middleware does, which needs a checkpointer.
   * Otherwise nobody can be asked, and the call is blocked.
   */
  readonly ask?: 'block' | 'interrupt'
}

/** How many sessions are remembered as begun. */
const SESSIONS = 10_000

interface State {
  readonly messages: readonly BaseMessage[]
}

interface Where {
  readonly configurable?: { readonly thread_id?: string }
  readonly signal?: AbortSignal
}

/** The middleware. The thread is the session unless one is given. */
export function hookhelm({ ask = 'block', ...options }: LangChainOptions): AgentMiddleware {
  const root = createAsker(options, 'langchain')
  const begun = new Map<string, Promise<readonly string[]>>()

  const at = ({ messages }: State, { configurable, signal }: Where): { asker: Asker; about: About } => {
    const thread = configurable?.thread_id
    const asker = options.session !== undefined || thread === undefined ? root : root.at({ session: thread })
    const turn = options.turn ?? String(messages.filter((each) => HumanMessage.isInstance(each)).length)
    return { asker, about: { envelope: { turn }, signal } }
  }
  /** What the hooks of `session_start` want the model to know. */
  const begin = (asker: Asker, { messages }: State): Promise<readonly string[]> => {
    const { session = '' } = asker.moment
    const known = begun.get(session)
    if (known !== undefined) return known
    const source = messages.some((message) => AIMessage.isInstance(message)) ? 'resume' : 'startup'
    const context = asker.transform('session_start', { source }).then((decision) => decision.context ?? [])
    begun.set(session, context)
    const oldest = begun.size > SESSIONS ? begun.keys().next().value : undefined
    if (oldest !== undefined) begun.delete(oldest)
    return context
  }

  return createMiddleware({
    name: 'hookhelm',
    beforeAgent: {
      canJumpTo: ['end'],
      async hook(state, runtime) {
        const { asker, about } = at(state, runtime)
        await begin(asker, state)
        return submitted(asker, state.messages, about)
      },
    },
    async wrapModelCall(request, handler) {
      const { asker, about } = at(request.state, request.runtime)
      const model = modelName(request.model)
      const context = await begin(asker, request.state)
      const message = await handler(await changedRequest(asker, request, { about, context }))
      return changedResponse(asker, message, { about, model })
    },
    afterModel: {
      canJumpTo: ['model'],
      hook(state, runtime) {
        const { asker, about } = at(state, runtime)
        return stopped(asker, state.messages, about)
      },
    },
    wrapToolCall(request, handler) {
      const { asker, about } = at(request.state, request.runtime)
      return guardToolCall(asker, request, { handler, about, asks: ask === 'interrupt' })
    },
  })
}
