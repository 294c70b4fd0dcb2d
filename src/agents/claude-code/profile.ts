import type { AgentProfile } from '../agent-profile.ts'
import { claudeCodeAdapter } from './adapter.ts'
import { claudeCodeHost } from './host.ts'

export const claudeCode: AgentProfile = {
  adapter: claudeCodeAdapter,
  host: claudeCodeHost,
  importer: async () => (await import('./importer.ts')).claudeCodeImporter,
}
