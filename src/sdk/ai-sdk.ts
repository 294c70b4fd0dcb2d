/** The door for programs on the AI SDK: hooks around its models and tools. */
import { type ToolApprovalConfiguration, type ToolSet, wrapLanguageModel } from 'ai'
import { approve, type OwnApproval } from './ai-sdk/approval.ts'
import { guardedTool } from './ai-sdk/guarded-tool.ts'
import { hooksMiddleware } from './ai-sdk/middleware.ts'
import { createToolGate } from './ai-sdk/tool-gate.ts'
import { type Asker, createAsker, type HelmOptions, innerOf } from './asker.ts'
import { blocked, refusalOf } from './refusal.ts'

export type { HelmOptions } from './asker.ts'

type WrappedModel = ReturnType<typeof wrapLanguageModel>
type AnyModel = Parameters<typeof wrapLanguageModel>[0]['model']

export type AiSdkOptions = HelmOptions & {
  /**
   * Keep streamed answers back until `model_response` hooks have seen the whole of them. If omitted: when there are such hooks
   * in this process; never for those of a gateway, which then only see what was streamed.
   */
  readonly holdStreams?: boolean
}

export interface Guarded<T extends ToolSet, C> {
  readonly tools: T
  readonly toolApproval: ToolApprovalConfiguration<T, C>
}

/** Hooks for one session of an agent. */
export interface Helm {
  /** The same model: prompts are asked about, requests and answers may be changed, and it may have to go on. */
  model(model: AnyModel): WrappedModel
  /** To spread into the call. The program's own approvals still apply. */
  guard<T extends ToolSet, C = unknown>(
    tools: T,
    own?: { readonly toolApproval?: ToolApprovalConfiguration<T, C> },
  ): Guarded<T, C>
  /** Runs a sub-agent, if the hooks let it start, with hooks one level deeper. */
  subagent<R>(agent: string, prompt: string, run: (helm: Helm, prompt: string) => Promise<R>): Promise<R>
  /** The session is over. Resolves when all observers have been told. */
  end(reason?: string): Promise<void>
}

export function hookhelm(options: AiSdkOptions): Helm {
  const { holdStreams, ...rest } = options
  const asker = createAsker(rest, 'ai-sdk')
  const holds = () => holdStreams ?? (options.hooks !== undefined && asker.listens('model_response'))
  return helmOf(asker, holds)
}

function helmOf(asker: Asker, holds: () => boolean): Helm {
  const gate = createToolGate(asker)
  const middleware = hooksMiddleware(asker, holds)
  const guarded = new WeakSet<object>()

  return {
    model: (model) => wrapLanguageModel({ model, middleware }),

    guard(tools, own = {}) {
      const wrapped = Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => {
          const inner = guardedTool(name, tool, { asker, gate })
          if (inner !== tool) guarded.add(inner)
          return [name, inner]
        }),
      ) as typeof tools
      const means = {
        gate,
        own: own.toolApproval as OwnApproval | undefined,
        isGuarded: (tool: object) => guarded.has(tool),
      }
      return { tools: wrapped, toolApproval: (call: unknown) => approve(call as never, means) }
    },

    async subagent(agent, prompt, run) {
      const decision = await asker.gate('subagent_start', { agent_type: agent, prompt })
      const refusal = refusalOf(decision)
      if (refusal !== undefined) throw blocked(refusal)
      const inner = innerOf(asker, agent)
      const { patch = prompt, context = [] } = decision
      const given = [String(patch), ...context].join('\n\n')
      try {
        const result = await run(helmOf(inner, holds), given)
        inner.observe('subagent_stop', { agent_type: agent, status: 'success' })
        return result
      } catch (thrown) {
        inner.observe('subagent_stop', { agent_type: agent, status: 'failed' })
        throw thrown
      }
    },

    async end(reason = 'other') {
      asker.observe('session_end', { reason })
      await asker.drain()
    },
  }
}
