import { type ConnectedEvents, defaultEvents } from '../../agents/capability-warnings.ts'
import { agentAdapters, findAdapter } from '../../agents/table.ts'
import { findConnections } from '../../connect/find-connections.ts'
import { requireHost, resolveSelection } from './agent-selection.ts'

/** The agents whose events pass the hooks: the named ones, or else those that are connected here. */
export function agentsInUse(names: readonly string[], cwd: string): readonly ConnectedEvents[] {
  return names.length === 0 ? connectedHere(cwd) : namedAgents(names)
}

function namedAgents(names: readonly string[]): ConnectedEvents[] {
  const wanted = names.includes('all') ? agentAdapters.map(({ name }) => name) : names
  return [...new Set(wanted)].flatMap((name) => {
    const agent = findAdapter(requireHost(name).agent)
    return agent === undefined ? [] : [{ agent, events: defaultEvents(agent) }]
  })
}

/** Connected agents with the events that their configuration registers. A plugin registers all of them. */
function connectedHere(cwd: string): ConnectedEvents[] {
  const { paths, dataFolder } = resolveSelection({ cwd })
  const { connected } = findConnections(paths, dataFolder)
  return agentAdapters.flatMap((agent) => {
    const files = connected.filter((file) => file.agent === agent.name)
    if (files.length === 0) return []
    const events =
      agent.transport === 'plugin'
        ? defaultEvents(agent)
        : files.flatMap(({ commands }) => commands.map(({ event }) => event))
    return [{ agent, events }]
  })
}
