import type { AgentAdapter } from './agent.ts'
import { claudeCode } from './claude-code/adapter.ts'

/** Every coding agent that can be connected. */
export const agents: readonly AgentAdapter[] = [claudeCode]

const byName = new Map(agents.map((agent) => [agent.name, agent]))

export function agentNamed(name: string): AgentAdapter | undefined {
  return byName.get(name)
}
