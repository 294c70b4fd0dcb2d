import type { AgentProfile } from '../agent-profile.ts'
import { copilotCliAdapter } from './adapter.ts'
import { copilotCliHost } from './host.ts'
import { copilotCliPayload } from './payload-shape.ts'

export const copilotCli: AgentProfile = {
  adapter: copilotCliAdapter,
  host: copilotCliHost,
  payloadShape: copilotCliPayload,
  importer: async () => (await import('./importer.ts')).copilotCliImporter,
}
