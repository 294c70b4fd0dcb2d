/** Entry point `hookhelm/openai-agents`: runners of the OpenAI Agents SDK whose agents pass the hooks. */

import { type Agent, type RunConfig, Runner } from '@openai/agents'
import { type AgentHooksOptions, blocked, createAgentHooks } from './agent-hooks.ts'
import { type AnyAgent, createGuardedAgents } from './openai-agents/guarded-agent.ts'
import { createPromptHooks } from './openai-agents/prompt-hooks.ts'

export type { AgentHooksOptions } from './agent-hooks.ts'

/** The hooks of one session of an agent. */
export interface AgentsSession {
  /** Creates a `Runner`. Every agent that it runs, and every agent that this one hands off to, passes the hooks. */
  runner(config?: Partial<RunConfig>): Runner
  /**
   * Returns the agent behind the hooks, for use as a tool of another agent or to read a saved state. Add handoffs to the agent
   * before this call.
   */
  agent<A extends AnyAgent>(agent: A): A
  /** Sends `session_end`. Resolves when all observers have finished. */
  end(reason?: string): Promise<void>
}

/**
 * Creates hooks for one session on the OpenAI Agents SDK. Gates fail closed: if no decision is made, the call is blocked.
 * `run` throws `agent.blocked` for a state that was read without `session.agent(agent)`.
 *
 * @example
 * const session = createAgentsSession({ hooks })
 * const { finalOutput } = await session.runner().run(agent, 'Deploy to prod.')
 * await session.end()
 */
export function createAgentsSession(options: AgentHooksOptions): AgentsSession {
  const agentHooks = createAgentHooks(options, 'openai-agents')
  const { guard, isGuarded, hooksOf } = createGuardedAgents(agentHooks)
  const prompts = createPromptHooks(hooksOf)

  return {
    agent: <A extends AnyAgent>(agent: A) => guard(agent) as A,

    runner(config = {}) {
      const runner = new Runner({
        ...config,
        inputGuardrails: [prompts.guardrail, ...(config.inputGuardrails ?? [])],
        callModelInputFilter: prompts.filter(config.callModelInputFilter),
      })
      const { run } = runner
      const guardedRun = async (agent: AnyAgent, input: unknown, ...rest: never[]) => {
        const current: unknown = isState(input) ? input._currentAgent : undefined
        if (current !== undefined && !isGuarded(current))
          throw blocked(
            'this state was read with an agent that has no hooks: read it with `session.agent(agent)`',
          )
        return run.call(runner, guard(agent), input as never, ...rest)
      }
      runner.on('agent_end', (_context, agent, output) => {
        const hooks = hooksOf(agent)
        hooks.observe('stop', { last_assistant_message: output })
        if ((hooks.envelope.depth ?? 0) > (agentHooks.envelope.depth ?? 0))
          hooks.observe('subagent_stop', { agent_type: agent.name, last_assistant_message: output })
      })
      return Object.assign(runner, { run: guardedRun as unknown as typeof run })
    },

    async end(reason = 'other') {
      agentHooks.observe('session_end', { reason })
      await agentHooks.drain()
    },
  }
}

function isState(input: unknown): input is { readonly _currentAgent: Agent } {
  return typeof input === 'object' && input !== null && '_currentAgent' in input
}
