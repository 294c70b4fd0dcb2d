import { type Dialect, failsOpen } from './dialect.ts'

/** Copilot CLI's `hooks/*.json`. */
export const copilotCli: Dialect = {
  layout: 'flat',
  timeoutMs: ({ timeoutSec = 30 }) => timeoutSec * 1_000,
  // Before a tool any bad exit code blocks; a timeout does not, anywhere.
  policies: (_, event) => (/^preToolUse$/i.test(event) ? { ...failsOpen, on_error: 'block' } : failsOpen),
  variables: ['COPILOT_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
}
