import type { AgentProfile } from '../agent-profile.ts'
import { openclawAdapter } from './adapter.ts'
import { openclawHost } from './host.ts'
import { openclawPayloadShape } from './payload-shape.ts'

export const openclaw: AgentProfile = {
  adapter: openclawAdapter,
  host: openclawHost,
  payloadShape: openclawPayloadShape,
}
