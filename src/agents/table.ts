import type { PayloadShape } from '../engine/core/payload-shape.ts'
import type { AgentAdapter } from './agent-adapter.ts'
import type { AgentHost } from './agent-host.ts'
import type { AgentProfile } from './agent-profile.ts'
import { claudeCode } from './claude-code/profile.ts'
import { codex } from './codex/profile.ts'
import { copilotCli } from './copilot-cli/profile.ts'
import { cursor } from './cursor/profile.ts'
import { geminiCli } from './gemini-cli/profile.ts'
import { openclaw } from './openclaw/profile.ts'
import { opencode } from './opencode/profile.ts'

/** Every coding agent that Hookhelm can connect. To add one, add its folder and list its profile here. */
export const agentProfiles: readonly AgentProfile[] = [
  claudeCode,
  codex,
  geminiCli,
  copilotCli,
  cursor,
  opencode,
  openclaw,
]

export const agentAdapters: readonly AgentAdapter[] = agentProfiles.map(({ adapter }) => adapter)

const byName = new Map(agentProfiles.map((profile) => [profile.adapter.name, profile]))

export function findProfile(name: string): AgentProfile | undefined {
  return byName.get(name)
}

export function findAdapter(name: string): AgentAdapter | undefined {
  return byName.get(name)?.adapter
}

export function findHost(name: string): AgentHost | undefined {
  return byName.get(name)?.host
}

export function findPayloadShape(name: string): PayloadShape | undefined {
  return byName.get(name)?.payloadShape
}
