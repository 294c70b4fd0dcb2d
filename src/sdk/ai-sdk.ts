/** Entry point `hookhelm/ai-sdk`: hooks around the models and tools of the AI SDK. */

import { type AgentHooksOptions, createAgentHooks } from './agent-hooks.ts'
import { type AiSdkSession, createHookedSession } from './ai-sdk/hooked-session.ts'

export type { AgentHooksOptions } from './agent-hooks.ts'
export type { AiSdkSession, GuardedTools } from './ai-sdk/hooked-session.ts'

/** Options of `createAiSdkSession`. */
export type AiSdkOptions = AgentHooksOptions & {
  /**
   * Hold a streamed answer back until the `model_response` hooks have seen all of it. Default: true if this process has such
   * hooks. With a gateway the default is false, and its hooks see the answer but cannot change it.
   */
  readonly holdStreams?: boolean
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
  return createHookedSession(agentHooks, { holds })
}
