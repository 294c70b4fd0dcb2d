import type { AgentProfile } from '../agent-profile.ts'
import { cursorAdapter } from './adapter.ts'
import { cursorHost } from './host.ts'
import { cursorImporter } from './importer.ts'

export const cursor: AgentProfile = { adapter: cursorAdapter, host: cursorHost, importer: cursorImporter }
