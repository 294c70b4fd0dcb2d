import { importCommandHooks } from '../config/import-command-hooks.ts'
import { failOpenPolicies } from '../config/imported-fields.ts'
import { geminiCliEvents } from './events.ts'
import { geminiCliHost } from './host.ts'
import { geminiCliTools } from './tools.ts'

/** Imports `hooks` from Gemini CLI's `settings.json`, or the `hooks.json` of an extension. */
export const geminiCliImporter = importCommandHooks(geminiCliHost, {
  native: geminiCliEvents,
  tools: geminiCliTools,
  cannotBlock: ['BeforeModel', 'AfterModel'],
  refused: ['BeforeToolSelection'],
  defaultTimeout: 60_000,
  policies: () => failOpenPolicies,
  variables: ['GEMINI_PROJECT_DIR', 'GEMINI_CWD', 'GEMINI_SESSION_ID', 'CLAUDE_PROJECT_DIR'],
  pluginRoots: ['extensionPath'],
})
