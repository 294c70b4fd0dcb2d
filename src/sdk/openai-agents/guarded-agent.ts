import { type Agent, getHandoff, type Handoff, type RunContext, type Tool } from '@openai/agents'
import { type AgentHooks, blocked, refusalOf, subagentHooks } from '../agent-hooks.ts'
import { guardedAction, guardedFunction } from './guarded-tool.ts'
import { createAgentsToolGate } from './tool-gate.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type for any agent
export type AnyAgent = Agent<any, any>
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own type for any handoff
type AnyHandoff = Handoff<any, any>

/** Agents with hooks around their tools and handoffs. */
export interface GuardedAgents {
  guard(agent: AnyAgent): AnyAgent
  isGuarded(agent: unknown): boolean
  /** The hooks of a guarded agent. */
  hooksOf(agent: unknown): AgentHooks
}

export function createGuardedAgents(root: AgentHooks): GuardedAgents {
  const guarded = new WeakMap<object, AnyAgent>()
  const hooksByCopy = new WeakMap<object, AgentHooks>()

  function guardAt(agent: AnyAgent, agentHooks: AgentHooks): AnyAgent {
    if (hooksByCopy.has(agent)) return agent
    const known = guarded.get(agent)
    if (known !== undefined) return known
    const copy: AnyAgent = agent.clone({})
    // Store the copy before its handoffs, which may lead back to this agent.
    guarded.set(agent, copy)
    hooksByCopy.set(copy, agentHooks)
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
      // Listeners on the original agent also receive events of the copy.
      eventEmitter: Reflect.get(agent, 'eventEmitter'),
      // Only this method lists the tools of MCP servers.
      getAllTools: async (...args: Parameters<typeof getAllTools>) =>
        (await getAllTools.apply(copy, args)).map(guardTool),
      handoffs: agent.handoffs.map((handoff) => guardHandoff(getHandoff(handoff), agentHooks)),
    })
  }

  function guardHandoff(handoff: AnyHandoff, agentHooks: AgentHooks): AnyHandoff {
    const inner = subagentHooks(agentHooks, handoff.agentName)
    return handoff.clone({
      agent: guardAt(handoff.agent, inner),
      // The name of the original agent.
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
    isGuarded: (agent) => typeof agent === 'object' && agent !== null && hooksByCopy.has(agent),
    hooksOf: (agent) => (typeof agent === 'object' && agent !== null && hooksByCopy.get(agent)) || root,
  }
}
