import type { AgentAdapter } from './agent.ts'
import { claudeCode } from './claude-code/adapter.ts'
import { codex } from './codex/adapter.ts'
import { copilotCli } from './copilot-cli/adapter.ts'
import { cursor } from './cursor/adapter.ts'
import { geminiCli } from './gemini-cli/adapter.ts'
import { openclaw } from './openclaw/adapter.ts'
import { opencode } from './opencode/adapter.ts'

/** Every coding agent that can be connected. */
export const agents: readonly AgentAdapter[] = [
  claudeCode,
  codex,
  geminiCli,
  copilotCli,
  cursor,
  opencode,
  openclaw,
]

const byName = new Map(agents.map((agent) => [agent.name, agent]))

export function agentNamed(name: string): AgentAdapter | undefined {
  return byName.get(name)
}
