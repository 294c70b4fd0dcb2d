import { agentNamed, agents } from '../agents/table.ts'
import { connectedByDefault, type ReachingAgent } from '../agents/warnings.ts'
import { connectedAgents } from '../connect/state.ts'
import { meantBy, requireHost } from './agent-places.ts'

/** The agents whose events would pass the hooks: those that are named, or else those that are connected here. */
export function reachingAgents(names: readonly string[], cwd: string): readonly ReachingAgent[] {
  return names.length === 0 ? connectedHere(cwd) : namedAgents(names)
}

function namedAgents(names: readonly string[]): ReachingAgent[] {
  const wanted = names.includes('all') ? agents.map(({ name }) => name) : names
  return [...new Set(wanted)].flatMap((name) => {
    const agent = agentNamed(requireHost(name).agent)
    return agent === undefined ? [] : [{ agent, events: connectedByDefault(agent) }]
  })
}

/** With the events that really stand in its configuration; a plugin has them all. */
function connectedHere(cwd: string): ReachingAgent[] {
  const { where, dataFolder } = meantBy({ cwd })
  const { connected } = connectedAgents(where, dataFolder)
  return agents.flatMap((agent) => {
    const places = connected.filter((place) => place.agent === agent.name)
    if (places.length === 0) return []
    const events =
      agent.transport === 'plugin'
        ? connectedByDefault(agent)
        : places.flatMap(({ calls }) => calls.map(({ event }) => event))
    return [{ agent, events }]
  })
}
