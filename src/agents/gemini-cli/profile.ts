import type { AgentProfile } from '../agent-profile.ts'
import { geminiCliAdapter } from './adapter.ts'
import { geminiCliHost } from './host.ts'
import { geminiCliPayloadShape } from './payload-shape.ts'

export const geminiCli: AgentProfile = {
  adapter: geminiCliAdapter,
  host: geminiCliHost,
  payloadShape: geminiCliPayloadShape,
  importer: async () => (await import('./importer.ts')).geminiCliImporter,
}
