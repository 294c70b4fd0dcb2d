import { importCommandHooks } from '../config/import-command-hooks.ts'
import { failOpenPolicies } from '../config/imported-fields.ts'
import { copilotCliEvents } from './events.ts'
import { copilotCliHost } from './host.ts'
import { copilotCliTools } from './tools.ts'

/** Imports Copilot CLI's `hooks/*.json`. */
export const copilotCliImporter = importCommandHooks(copilotCliHost, {
  native: copilotCliEvents,
  tools: copilotCliTools,
  cannotBlock: ['subagentStop', 'SubagentStop'],
  defaultTimeout: 30,
  // Before a tool call any exit code but 0 blocks. A timeout never blocks.
  policies: (_, event) =>
    /^preToolUse$/i.test(event) ? { ...failOpenPolicies, on_error: 'block' } : failOpenPolicies,
  variables: ['COPILOT_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
})
