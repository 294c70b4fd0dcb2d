import type { AgentProfile } from '../agent-profile.ts'
import { claudeCodeAdapter } from './adapter.ts'
import { claudeCodeHost } from './host.ts'
import { claudeCodeImporter } from './importer.ts'

export const claudeCode: AgentProfile = {
  adapter: claudeCodeAdapter,
  host: claudeCodeHost,
  importer: claudeCodeImporter,
}
