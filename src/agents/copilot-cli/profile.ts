import type { AgentProfile } from '../agent-profile.ts'
import { copilotCliAdapter } from './adapter.ts'
import { copilotCliHost } from './host.ts'
import { copilotCliPayloadShape } from './payload-shape.ts'

export const copilotCli: AgentProfile = {
  adapter: copilotCliAdapter,
  host: copilotCliHost,
  payloadShape: copilotCliPayloadShape,
  importer: async () => (await import('./importer.ts')).copilotCliImporter,
}
