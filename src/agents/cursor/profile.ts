import type { AgentProfile } from '../agent-profile.ts'
import { cursorAdapter } from './adapter.ts'
import { cursorHost } from './host.ts'
import { cursorPayload } from './payload-shape.ts'

export const cursor: AgentProfile = {
  adapter: cursorAdapter,
  host: cursorHost,
  payloadShape: cursorPayload,
  importer: async () => (await import('./importer.ts')).cursorImporter,
}
