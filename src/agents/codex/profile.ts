import type { AgentProfile } from '../agent-profile.ts'
import { codexAdapter } from './adapter.ts'
import { codexHost } from './host.ts'
import { codexImporter } from './importer.ts'

export const codex: AgentProfile = { adapter: codexAdapter, host: codexHost, importer: codexImporter }
