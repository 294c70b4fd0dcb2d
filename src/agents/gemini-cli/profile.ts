import type { AgentProfile } from '../agent-profile.ts'
import { geminiCliAdapter } from './adapter.ts'
import { geminiCliHost } from './host.ts'

export const geminiCli: AgentProfile = {
  adapter: geminiCliAdapter,
  host: geminiCliHost,
  importer: async () => (await import('./importer.ts')).geminiCliImporter,
}
