import type { AgentProfile } from '../agent-profile.ts'
import { codexAdapter } from './adapter.ts'
import { codexHost } from './host.ts'
import { codexPayloadShape } from './payload-shape.ts'

export const codex: AgentProfile = {
  adapter: codexAdapter,
  host: codexHost,
  payloadShape: codexPayloadShape,
  importer: async () => (await import('./importer.ts')).codexImporter,
}
