import type { AgentProfile } from '../agent-profile.ts'
import { cursorAdapter } from './adapter.ts'
import { cursorHost } from './host.ts'
import { cursorPayloadShape } from './payload-shape.ts'

export const cursor: AgentProfile = {
  adapter: cursorAdapter,
  host: cursorHost,
  payloadShape: cursorPayloadShape,
  importer: async () => (await import('./importer.ts')).cursorImporter,
}
