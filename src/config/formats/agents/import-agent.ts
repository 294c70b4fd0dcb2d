import { claudeCode } from '../claude-code/claude-code.ts'
import { attempt, type Foreign, type ImportResult, importForeign } from '../foreign.ts'
import { agentHooks } from './agent-hooks.ts'
import { codex } from './codex.ts'
import { copilotCli } from './copilot-cli.ts'
import { cursor } from './cursor.ts'
import { geminiCli } from './gemini-cli.ts'

const readers = {
  'claude-code': (value: unknown) => attempt(value, claudeCode()),
  codex: (value: unknown) => attempt(value, agentHooks(codex)),
  'gemini-cli': (value: unknown) => attempt(value, agentHooks(geminiCli)),
  'copilot-cli': (value: unknown) => attempt(value, agentHooks(copilotCli)),
  cursor: (value: unknown) => attempt(value, agentHooks(cursor)),
}

/** Agents whose hooks are configured as data. */
export type AgentFormat = keyof typeof readers
export const agentFormats = Object.keys(readers)

export function isAgentFormat(name: string): name is AgentFormat {
  return agentFormats.includes(name)
}

/** The hooks that a person gave to a coding agent; their shapes are too much alike to tell the agents apart. */
export function importAgentHooks(given: Foreign, agent: AgentFormat): ImportResult {
  return importForeign(given, readers[agent])
}
