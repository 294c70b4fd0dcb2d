import { type Agent, getHandoff, type Handoff, type RunContext, type Tool } from '@openai/agents'
import { type AgentHooks, subagentHooks } from '../agent-hooks.ts'
import { blocked, refusalOf } from '../refusal.ts'
import { guardedAction } from './guarded-action.ts'
import { guardedFunction } from './guarded-tool.ts'
import { createAgentsToolGate } from './tool-gate.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the SDK itself says for an agent of any kind
export type AnyAgent = Agent<any, any>
// biome-ignore lint/suspicious/noExplicitAny: likewise
type AnyHandoff = Handoff<any, any>

/** Agents with hooks around their tools and handoffs. */
export interface Agents {
  guard(agent: AnyAgent): AnyAgent
  isGuarded(agent: unknown): boolean
  /** Who speaks for a guarded agent. */
  hooksOf(agent: unknown): AgentHooks
}

export function createAgents(root: AgentHooks): Agents {
  const guarded = new WeakMap<object, AnyAgent>()
  const askers = new WeakMap<object, AgentHooks>()

  function guardAt(agent: AnyAgent, agentHooks: AgentHooks): AnyAgent {
    if (askers.has(agent)) return agent
    const known = guarded.get(agent)
    if (known !== undefined) return known
    const copy: AnyAgent = agent.clone({})
    // Before its handoffs, which may lead back here.
    guarded.set(agent, copy)
    askers.set(copy, agentHooks)
    const gate = createAgentsToolGate(agentHooks)
    const tools = new WeakMap<Tool, Tool>()
    const guardTool = (tool: Tool): Tool => {
      const wrapped = tools.get(tool) ?? wrap(tool)
      tools.set(tool, wrapped)
      return wrapped
    }
    const wrap = (tool: Tool): Tool => {
      if (tool.type === 'function') return guardedFunction(tool, { agentHooks, gate })
      if (tool.type === 'hosted_tool') return tool
      return guardedAction(tool, gate)
    }
    const { getAllTools } = copy
    return Object.assign(copy, {
      // Whoever listens to the agent hears of its copy.
      eventEmitter: Reflect.get(agent, 'eventEmitter'),
      // Those of tool servers are only known here.
      getAllTools: async (...given: Parameters<typeof getAllTools>) =>
        (await getAllTools.apply(copy, given)).map(guardTool),
      handoffs: agent.handoffs.map((handoff) => guardHandoff(getHandoff(handoff), agentHooks)),
    })
  }

  function guardHandoff(handoff: AnyHandoff, agentHooks: AgentHooks): AnyHandoff {
    const inner = subagentHooks(agentHooks, handoff.agentName)
    return handoff.clone({
      agent: guardAt(handoff.agent, inner),
      // The name is that of the agent as it was given.
      agentName: handoff.agentName,
      onInvokeHandoff: async (context: RunContext, text: string) => {
        const decision = await agentHooks.gate('subagent_start', { agent_type: handoff.agentName })
        const refusal = refusalOf(decision)
        if (refusal !== undefined) throw blocked(refusal)
        return guardAt(await handoff.onInvokeHandoff(context, text), inner)
      },
    })
  }

  return {
    guard: (agent) =>
      guardAt(agent, root.envelope.agent === undefined ? root.at({ agent: agent.name }) : root),
    isGuarded: (agent) => typeof agent === 'object' && agent !== null && askers.has(agent),
    hooksOf: (agent) => (typeof agent === 'object' && agent !== null && askers.get(agent)) || root,
  }
}
