import type { AgentProfile } from '../agent-profile.ts'
import { codexAdapter } from './adapter.ts'
import { codexHost } from './host.ts'
import { codexPayload } from './payload-shape.ts'

export const codex: AgentProfile = {
  adapter: codexAdapter,
  host: codexHost,
  payloadShape: codexPayload,
  importer: async () => (await import('./importer.ts')).codexImporter,
}
