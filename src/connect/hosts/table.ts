import type { Host } from '../host.ts'
import { claudeCodeHost } from './claude-code.ts'
import { codexHost } from './codex.ts'
import { copilotCliHost } from './copilot-cli.ts'
import { cursorHost } from './cursor.ts'
import { geminiCliHost } from './gemini-cli.ts'
import { openClawHost } from './openclaw.ts'
import { openCodeHost } from './opencode.ts'

/** Where each agent keeps its configuration, and how its hooks are written there. */
export const hosts: readonly Host[] = [
  claudeCodeHost,
  codexHost,
  geminiCliHost,
  openCodeHost,
  copilotCliHost,
  cursorHost,
  openClawHost,
]

export function hostNamed(name: string): Host | undefined {
  return hosts.find(({ agent }) => agent === name)
}
