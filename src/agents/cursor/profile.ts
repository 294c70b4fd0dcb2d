import type { AgentProfile } from '../agent-profile.ts'
import { cursorAdapter } from './adapter.ts'
import { cursorHost } from './host.ts'

export const cursor: AgentProfile = {
  adapter: cursorAdapter,
  host: cursorHost,
  importer: async () => (await import('./importer.ts')).cursorImporter,
}
