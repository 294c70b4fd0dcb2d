/** The door for programs on the OpenAI Agents SDK: a runner whose agents pass the hooks. */
import { type Agent, type RunConfig, Runner } from '@openai/agents'
import { createAsker, type HelmOptions } from './asker.ts'
import { type AnyAgent, createAgents } from './openai-agents/guarded-agent.ts'
import { createPrompts } from './openai-agents/prompts.ts'
import { blocked } from './refusal.ts'

export type { HelmOptions } from './asker.ts'

/** Hooks for one session of an agent. */
export interface Helm {
  /** A runner: whatever agent it runs is guarded. */
  runner(config?: Partial<RunConfig>): Runner
  /** The guarded agent itself: to be a tool of another, or to read a saved state with. Its handoffs must be there already. */
  agent<A extends AnyAgent>(agent: A): A
  /** The session is over. Resolves when all observers have been told. */
  end(reason?: string): Promise<void>
}

export function hookhelm(options: HelmOptions): Helm {
  const asker = createAsker(options, 'openai-agents')
  const { guard, isGuarded, askerOf } = createAgents(asker)
  const prompts = createPrompts(askerOf)

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
          throw blocked('this state was read with an agent past its hooks: read it with `helm.agent(agent)`')
        return run.call(runner, guard(agent), input as never, ...rest)
      }
      runner.on('agent_end', (_context, agent, output) => {
        const told = askerOf(agent)
        told.observe('stop', { last_assistant_message: output })
        if ((told.moment.depth ?? 0) > (asker.moment.depth ?? 0))
          told.observe('subagent_stop', { agent_type: agent.name, last_assistant_message: output })
      })
      return Object.assign(runner, { run: guardedRun as unknown as typeof run })
    },

    async end(reason = 'other') {
      asker.observe('session_end', { reason })
      await asker.drain()
    },
  }
}

function isState(input: unknown): input is { readonly _currentAgent: Agent } {
  return typeof input === 'object' && input !== null && '_currentAgent' in input
}
