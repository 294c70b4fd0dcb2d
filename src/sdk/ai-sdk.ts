/** Entry point `hookhelm/ai-sdk`: hooks around the models and tools of the AI SDK. */

import { type ToolApprovalConfiguration, type ToolSet, wrapLanguageModel } from 'ai'
import {
  type AgentHooks,
  type AgentHooksOptions,
  blocked,
  createAgentHooks,
  refusalOf,
  subagentHooks,
} from './agent-hooks.ts'
import { guardedTool } from './ai-sdk/guarded-tool.ts'
import { hooksMiddleware } from './ai-sdk/hooks-middleware.ts'
import { type OwnApproval, resolveApproval } from './ai-sdk/resolve-approval.ts'
import { createAiToolGate } from './ai-sdk/tool-gate.ts'

export type { AgentHooksOptions } from './agent-hooks.ts'

type WrappedModel = ReturnType<typeof wrapLanguageModel>
type AnyModel = Parameters<typeof wrapLanguageModel>[0]['model']

/** Options of `createAiSdkSession`. */
export type AiSdkOptions = AgentHooksOptions & {
  /**
   * Hold a streamed answer back until the `model_response` hooks have seen all of it. Default: true if this process has such
   * hooks. With a gateway the default is false, and its hooks see the answer but cannot change it.
   */
  readonly holdStreams?: boolean
}

/** Spread this into `generateText` or `streamText`. */
export interface GuardedTools<T extends ToolSet, C> {
  /** The same tools behind the hooks. */
  readonly tools: T
  /** Asks the hooks before each call. `ask` becomes an approval request of the AI SDK. */
  readonly toolApproval: ToolApprovalConfiguration<T, C>
}

/** The hooks of one session of an agent. */
export interface AiSdkSession {
  /**
   * Wraps a model: hooks see prompts, requests and answers. They may block a prompt, change a request or an answer, and make
   * the model continue at `stop`.
   */
  model(model: AnyModel): WrappedModel
  /** Puts tools behind the hooks. Approvals of your own, given in `own.toolApproval`, still apply. */
  guard<T extends ToolSet, C = unknown>(
    tools: T,
    own?: { readonly toolApproval?: ToolApprovalConfiguration<T, C> },
  ): GuardedTools<T, C>
  /**
   * Runs a sub-agent with hooks one level deeper. Throws `agent.blocked` if a `subagent_start` hook blocks it, and whatever
   * `run` throws.
   */
  subagent<R>(
    agent: string,
    prompt: string,
    run: (session: AiSdkSession, prompt: string) => Promise<R>,
  ): Promise<R>
  /** Sends `session_end`. Resolves when all observers have finished. */
  end(reason?: string): Promise<void>
}

/**
 * Creates hooks for one session of an agent on the AI SDK. Gates fail closed: if no decision is made, the call is blocked.
 *
 * @example
 * const session = createAiSdkSession({ hooks })
 * await generateText({ model: session.model(openai('gpt-5')), ...session.guard({ deploy }), prompt })
 * await session.end()
 */
export function createAiSdkSession(options: AiSdkOptions): AiSdkSession {
  const { holdStreams, ...rest } = options
  const agentHooks = createAgentHooks(rest, 'ai-sdk')
  const holds = () => holdStreams ?? (options.hooks !== undefined && agentHooks.listens('model_response'))
  return sessionWith(agentHooks, holds)
}

function sessionWith(agentHooks: AgentHooks, holds: () => boolean): AiSdkSession {
  const gate = createAiToolGate(agentHooks)
  const middleware = hooksMiddleware(agentHooks, holds)
  const guarded = new WeakSet<object>()

  return {
    model: (model) => wrapLanguageModel({ model, middleware }),

    guard(tools, own = {}) {
      const wrapped = Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => {
          const inner = guardedTool(name, tool, { agentHooks, gate })
          if (inner !== tool) guarded.add(inner)
          return [name, inner]
        }),
      ) as typeof tools
      const means = {
        gate,
        own: own.toolApproval as OwnApproval | undefined,
        isGuarded: (tool: object) => guarded.has(tool),
      }
      return { tools: wrapped, toolApproval: (call: unknown) => resolveApproval(call as never, means) }
    },

    async subagent(agent, prompt, run) {
      const decision = await agentHooks.gate('subagent_start', { agent_type: agent, prompt })
      const refusal = refusalOf(decision)
      if (refusal !== undefined) throw blocked(refusal)
      const inner = subagentHooks(agentHooks, agent)
      const { input = prompt, context = [] } = decision
      const given = [String(input), ...context].join('\n\n')
      try {
        const result = await run(sessionWith(inner, holds), given)
        inner.observe('subagent_stop', { agent_type: agent, status: 'success' })
        return result
      } catch (thrown) {
        inner.observe('subagent_stop', { agent_type: agent, status: 'failed' })
        throw thrown
      }
    },

    async end(reason = 'other') {
      agentHooks.observe('session_end', { reason })
      await agentHooks.drain()
    },
  }
}
