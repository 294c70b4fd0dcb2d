import { importCommandHooks } from '../config/import-command-hooks.ts'
import { failOpenPolicies } from '../config/imported-fields.ts'
import { codexEvents } from './events.ts'
import { codexHost } from './host.ts'
import { codexTools } from './tools.ts'

/** Imports Codex's `hooks.json`. */
export const codexImporter = importCommandHooks(codexHost, {
  native: codexEvents,
  tools: codexTools,
  cannotBlock: ['SubagentStop', 'SessionStart', 'PostCompact'],
  defaultTimeout: 600,
  policies: () => failOpenPolicies,
  variables: [],
})
