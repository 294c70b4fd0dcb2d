import { type ToolApprovalConfiguration, type ToolSet, wrapLanguageModel } from 'ai'
import { type AgentHooks, blocked, refusalOf, subagentHooks } from '../agent-hooks.ts'
import { guardedTool } from './guarded-tool.ts'
import { hooksMiddleware } from './hooks-middleware.ts'
import type { SessionSource } from './model-request.ts'
import { type OwnApproval, resolveApproval } from './resolve-approval.ts'
import { type AiToolGate, createAiToolGate } from './tool-gate.ts'

type WrappedModel = ReturnType<typeof wrapLanguageModel>
type AnyModel = Parameters<typeof wrapLanguageModel>[0]['model']

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

interface HookedSessionOptions {
  /** Whether streamed answers wait for the `model_response` hooks. */
  readonly holds: () => boolean
  /** Decides about the tool calls of the session and of each sub-agent; `pre_tool_use` alone if omitted. */
  readonly createGate?: (agentHooks: AgentHooks) => AiToolGate
  /** `startup` if omitted. */
  readonly source?: SessionSource
}

/** The hooks of one session, around the models and tools of the AI SDK. */
export function createHookedSession(agentHooks: AgentHooks, options: HookedSessionOptions): AiSdkSession {
  const { holds, createGate = createAiToolGate, source } = options
  const gate = createGate(agentHooks)
  const middleware = hooksMiddleware(agentHooks, holds, source)
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
        const result = await run(createHookedSession(inner, options), given)
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
