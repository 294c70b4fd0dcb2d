import type { AgentProfile } from '../agent-profile.ts'
import { opencodeAdapter } from './adapter.ts'
import { opencodeHost } from './host.ts'
import { opencodePayloadShape } from './payload-shape.ts'

export const opencode: AgentProfile = {
  adapter: opencodeAdapter,
  host: opencodeHost,
  payloadShape: opencodePayloadShape,
}
