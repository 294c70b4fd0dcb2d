import type { AgentProfile } from '../agent-profile.ts'
import { codexAdapter } from './adapter.ts'
import { codexHost } from './host.ts'

export const codex: AgentProfile = {
  adapter: codexAdapter,
  host: codexHost,
  importer: async () => (await import('./importer.ts')).codexImporter,
}
