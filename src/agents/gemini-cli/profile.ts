import type { AgentProfile } from '../agent-profile.ts'
import { failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { geminiCliAdapter } from './adapter.ts'
import { geminiCliHost } from './host.ts'

/** Imports `hooks` from Gemini CLI's `settings.json`. */
const geminiCliImporter = importCommandHooks(geminiCliHost, {
  defaultTimeout: 60_000,
  policies: () => failOpenPolicies,
  variables: ['GEMINI_PROJECT_DIR', 'GEMINI_SESSION_ID', 'CLAUDE_PROJECT_DIR'],
})

export const geminiCli: AgentProfile = {
  adapter: geminiCliAdapter,
  host: geminiCliHost,
  importer: geminiCliImporter,
}
