import type { AgentProfile } from '../agent-profile.ts'
import { opencodeAdapter } from './adapter.ts'
import { opencodeHost } from './host.ts'

export const opencode: AgentProfile = { adapter: opencodeAdapter, host: opencodeHost }
