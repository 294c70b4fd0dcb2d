/** The coding agents that a runner can start without a terminal. The web app reads them too. */
export const cliAgents = ['claude-code', 'codex', 'gemini-cli', 'opencode'] as const
export type CliAgentName = (typeof cliAgents)[number]
