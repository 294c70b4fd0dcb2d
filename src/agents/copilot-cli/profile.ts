import type { AgentProfile } from '../agent-profile.ts'
import { copilotCliAdapter } from './adapter.ts'
import { copilotCliHost } from './host.ts'

export const copilotCli: AgentProfile = {
  adapter: copilotCliAdapter,
  host: copilotCliHost,
  importer: async () => (await import('./importer.ts')).copilotCliImporter,
}
