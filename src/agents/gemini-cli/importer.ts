import { failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { geminiCliHost } from './host.ts'

/** Imports `hooks` from Gemini CLI's `settings.json`. */
export const geminiCliImporter = importCommandHooks(geminiCliHost, {
  defaultTimeout: 60_000,
  policies: () => failOpenPolicies,
  variables: ['GEMINI_PROJECT_DIR', 'GEMINI_SESSION_ID', 'CLAUDE_PROJECT_DIR'],
})
