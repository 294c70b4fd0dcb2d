import type { AgentProfile } from '../agent-profile.ts'
import { copilotCliAdapter } from './adapter.ts'
import { copilotCliHost } from './host.ts'
import { copilotCliImporter } from './importer.ts'

export const copilotCli: AgentProfile = {
  adapter: copilotCliAdapter,
  host: copilotCliHost,
  importer: copilotCliImporter,
}
