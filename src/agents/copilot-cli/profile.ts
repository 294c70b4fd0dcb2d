import type { AgentProfile } from '../agent-profile.ts'
import { failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { copilotCliAdapter } from './adapter.ts'
import { copilotCliHost } from './host.ts'

/** Imports Copilot CLI's `hooks/*.json`. */
const copilotCliImporter = importCommandHooks(copilotCliHost, {
  defaultTimeout: 30,
  // Before a tool call any exit code but 0 blocks. A timeout never blocks.
  policies: (_, event) =>
    /^preToolUse$/i.test(event) ? { ...failOpenPolicies, on_error: 'block' } : failOpenPolicies,
  variables: ['COPILOT_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
})

export const copilotCli: AgentProfile = {
  adapter: copilotCliAdapter,
  host: copilotCliHost,
  importer: copilotCliImporter,
}
