import { type CodingAgent, codingAgentNames } from '../engine/core/coding-agents.ts'
import type { PayloadShape } from '../engine/core/schema/payload-shape.ts'
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

const profiles: Readonly<Record<CodingAgent, AgentProfile>> = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  'copilot-cli': copilotCli,
  cursor,
  opencode,
  openclaw,
}

/** Every coding agent that Hookhelm can connect, in the order of `coding-agents.ts`. */
export const agentProfiles: readonly AgentProfile[] = codingAgentNames.map((name) => profiles[name])

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
