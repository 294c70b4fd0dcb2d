import type { ProcessReply } from '../../src/agents/agent-adapter.ts'
import { isAccepted } from './codex-schema.fixture.ts'

/** What a client makes of a hook that ended so: whether the action is blocked. As far as it was seen to behave. */
type Client = (event: string, reply: ProcessReply) => boolean

interface Output {
  readonly [key: string]: unknown
  readonly decision?: unknown
  readonly hookSpecificOutput?: { readonly permissionDecision?: unknown; readonly decision?: unknown }
}

const parsed = (text: string): Output | undefined => {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

const behaves = (decision: unknown) =>
  typeof decision === 'object' && decision !== null && 'behavior' in decision ? decision.behavior : undefined

const claudeLike = (event: string, stdout: string): boolean => {
  const { decision, hookSpecificOutput: specific } = parsed(stdout) ?? {}
  if (event === 'PreToolUse') return specific?.permissionDecision === 'deny'
  if (event === 'PermissionRequest') return behaves(specific?.decision) === 'deny'
  return decision === 'block'
}

const spoken = (stderr: string) => /[^\s\u0085]/.test(stderr)

export const clients: Readonly<Record<string, Client>> = {
  'claude-code': (event, { exit, stdout }) =>
    (exit === 2 && event !== 'PermissionRequest') || claudeLike(event, stdout),

  codex: (event, { exit, stdout, stderr }) => {
    if (exit === 2) return spoken(stderr) && event !== 'PreCompact'
    if (exit !== 0 || !isAccepted(event, stdout)) return false
    return event === 'PreCompact' ? parsed(stdout)?.continue === false : claudeLike(event, stdout)
  },

  // Whatever there is of stdout, else of stderr, is read as JSON first and as a text then.
  'gemini-cli': (_, { exit, stdout, stderr }) => {
    const text = stdout.trim() || stderr.trim()
    const output = parsed(text)
    if (output !== undefined) return output.decision === 'deny' || output.decision === 'block'
    return exit > 1 && text !== ''
  },

  'copilot-cli': (event, { exit, stdout }) => {
    const output = parsed(stdout) ?? {}
    if (/^preToolUse$/i.test(event)) return exit !== 0 || output.permissionDecision === 'deny'
    if (event === 'permissionRequest') return output.behavior === 'deny'
    return output.decision === 'block' && typeof output.reason === 'string' && output.reason !== ''
  },

  cursor: (event, { exit, stdout }) => {
    if (exit === 2) return true
    const output = parsed(stdout) ?? {}
    if (event === 'beforeSubmitPrompt') return output.continue === false
    if (event === 'stop') return typeof output.followup_message === 'string' && output.followup_message !== ''
    return output.permission === 'deny'
  },
}
