import type { AgentProfile } from '../agent-profile.ts'
import { failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { codexAdapter } from './adapter.ts'
import { codexHost } from './host.ts'

/** Imports Codex's `hooks.json`. */
const codexImporter = importCommandHooks(codexHost, {
  defaultTimeout: 600,
  policies: () => failOpenPolicies,
  variables: [],
})

export const codex: AgentProfile = { adapter: codexAdapter, host: codexHost, importer: codexImporter }
