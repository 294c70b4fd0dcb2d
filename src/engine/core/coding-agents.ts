/** The coding agents that Hookhelm knows. `runs`: a runner can start the agent without a terminal. The web app reads the list too. */
export const codingAgents = [
  { name: 'claude-code', title: 'Claude Code', runs: true },
  { name: 'codex', title: 'Codex', runs: true },
  { name: 'gemini-cli', title: 'Gemini CLI', runs: true },
  { name: 'copilot-cli', title: 'Copilot CLI', runs: false },
  { name: 'cursor', title: 'Cursor', runs: false },
  { name: 'opencode', title: 'OpenCode', runs: true },
  { name: 'openclaw', title: 'OpenClaw', runs: false },
] as const
export type CodingAgent = (typeof codingAgents)[number]['name']

export const codingAgentNames = codingAgents.map(({ name }) => name)
export const runnableAgents = codingAgents.flatMap((agent) => (agent.runs ? [agent.name] : []))
export type RunnableAgent = (typeof runnableAgents)[number]

/** The name of an agent, and the one that people know it by. */
export function codingAgent(agent: CodingAgent): { readonly name: CodingAgent; readonly title: string } {
  return { name: agent, title: codingAgents.find(({ name }) => name === agent)?.title ?? agent }
}
