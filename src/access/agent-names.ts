import { codingAgentNames } from '../engine/core/coding-agents.ts'
import { agentId } from './agent-id.ts'

/** The name of a coding agent that Hookhelm knows; the id itself for every other agent. */
export function agentName(tenant: string, id: string): string {
  return codingAgentNames.find((name) => agentId(tenant, name) === id) ?? id
}
