import { failOpenPolicies, importCommandHooks } from '../config/import-command-hooks.ts'
import { codexHost } from './host.ts'

/** Imports Codex's `hooks.json`. */
export const codexImporter = importCommandHooks(codexHost, {
  defaultTimeout: 600,
  policies: () => failOpenPolicies,
  variables: [],
})
