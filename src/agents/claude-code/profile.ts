import type { AgentProfile } from '../agent-profile.ts'
import { claudeCodeAdapter } from './adapter.ts'
import { claudeCodeHost } from './host.ts'
import { claudeCodePayloadShape } from './payload-shape.ts'

export const claudeCode: AgentProfile = {
  adapter: claudeCodeAdapter,
  host: claudeCodeHost,
  payloadShape: claudeCodePayloadShape,
  importer: async () => (await import('./importer.ts')).claudeCodeImporter,
}
