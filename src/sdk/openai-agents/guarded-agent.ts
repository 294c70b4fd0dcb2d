import { type Agent, getHandoff, type Handoff, type RunContext, type Tool } from '@openai/agents'
import { type Asker, innerOf } from '../asker.ts'
import { blocked, refusalOf } from '../refusal.ts'
import { guardedAction } from './guarded-action.ts'
import { guardedFunction } from './guarded-tool.ts'
import { createToolGate } from './tool-gate.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the SDK itself says for an agent of any kind
export type AnyAgent = Agent<any, any>
// biome-ignore lint/suspicious/noExplicitAny: likewise
type AnyHandoff = Handoff<any, any>

/** Agents with hooks around their tools and handoffs. */
export interface Agents {
  guard(agent: AnyAgent): AnyAgent
  isGuarded(agent: unknown): boolean
  /** Who speaks for a guarded agent. */
  askerOf(agent: unknown): Asker
}

export function createAgents(root: Asker): Agents {
  const guarded = new WeakMap<object, AnyAgent>()
  const askers = new WeakMap<object, Asker>()

  function guardAt(agent: AnyAgent, asker: Asker): AnyAgent {
    if (askers.has(agent)) return agent
    const known = guarded.get(agent)
    if (known !== undefined) return known
    const copy: AnyAgent = agent.clone({})
    // Before its handoffs, which may lead back here.
    guarded.set(agent, copy)
    askers.set(copy, asker)
    const gate = createToolGate(asker)
    const tools = new WeakMap<Tool, Tool>()
    const guardTool = (tool: Tool): Tool => {
      const wrapped = tools.get(tool) ?? wrap(tool)
      tools.set(tool, wrapped)
      return wrapped
    }
    const wrap = (tool: Tool): Tool => {
      if (tool.type === 'function') return guardedFunction(tool, { asker, gate })
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
      handoffs: agent.handoffs.map((handoff) => guardHandoff(getHandoff(handoff), asker)),
    })
  }

  function guardHandoff(handoff: AnyHandoff, asker: Asker): AnyHandoff {
    const inner = innerOf(asker, handoff.agentName)
    return handoff.clone({
      agent: guardAt(handoff.agent, inner),
      // The name is that of the agent as it was given.
      agentName: handoff.agentName,
      onInvokeHandoff: async (context: RunContext, text: string) => {
        const decision = await asker.gate('subagent_start', { agent_type: handoff.agentName })
        const refusal = refusalOf(decision)
        if (refusal !== undefined) throw blocked(refusal)
        return guardAt(await handoff.onInvokeHandoff(context, text), inner)
      },
    })
  }

  return {
    guard: (agent) => guardAt(agent, root.moment.agent === undefined ? root.at({ agent: agent.name }) : root),
    isGuarded: (agent) => typeof agent === 'object' && agent !== null && askers.has(agent),
    askerOf: (agent) => (typeof agent === 'object' && agent !== null && askers.get(agent)) || root,
  }
}
