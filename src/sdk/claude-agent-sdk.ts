import type { NativeEvent, NativePayload, ProcessReply } from '../agents/agent-adapter.ts'
import { claudeCodeAdapter } from '../agents/claude-code/adapter.ts'
import { deliverDecision } from '../agents/translate/outcome.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import {
  type AgentHooks,
  type AgentHooksOptions,
  createAgentHooks,
  type HookCallOptions,
} from './agent-hooks.ts'

/** Entry point `hookhelm/claude-agent-sdk`: the `hooks` option of `query()`. */

export type { AgentHooksOptions } from './agent-hooks.ts'

/** Each event has its own type in the SDK, so this is `any`. */
type EventOutput = ReturnType<typeof JSON.parse>

/** The result of a callback, as the SDK reads it. */
export interface HookOutput {
  readonly decision?: 'block'
  readonly reason?: string
  readonly hookSpecificOutput?: EventOutput
}

/** A hook callback of the SDK. */
export type HookCallback = (
  input: object,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<HookOutput>

/** An entry of the SDK's `hooks` option. */
export interface HookMatcher {
  hooks: HookCallback[]
  timeout: number
  onFailure?: 'block'
}

/** Options of `createClaudeHooks`. */
export type ClaudeAgentOptions = AgentHooksOptions & {
  /** How long the SDK waits for hooks, in seconds. Must be longer than a hook or a gateway may take. Default: 60. */
  readonly timeout?: number
}

/**
 * Creates the `hooks` option of `query()`. Merge it with hooks of your own if you have some. Gates fail closed: if no decision
 * is made, the call is blocked.
 *
 * @example
 * query({ prompt: 'Clean up.', options: { hooks: createClaudeHooks({ hooks }) } })
 */
export function createClaudeHooks({
  timeout = 60,
  ...options
}: ClaudeAgentOptions): Record<string, HookMatcher[]> {
  const agentHooks = createAgentHooks(options, 'claude-agent-sdk')
  const waitSeconds = Math.ceil((options.waitMs ?? 0) / 1_000)
  const rows: readonly (readonly [string, NativeEvent])[] = Object.entries(claudeCodeAdapter.events)
  return Object.fromEntries(
    rows.flatMap(([name, row]) => {
      if (row.chatty) return []
      const matcher: HookMatcher = { hooks: [callbackFor(name, row, { agentHooks, options })], timeout }
      // Without `onFailure` the SDK continues when a callback fails or is late.
      const gate = { ...matcher, timeout: timeout + waitSeconds, onFailure: 'block' } as const
      return [[name, [blocks(row) ? gate : matcher]]]
    }),
  )
}

function blocks({ event, honours = [] }: NativeEvent): boolean {
  return event !== undefined && honours.includes('block') && catalogue[event].onFailure === 'block'
}

interface CallbackContext {
  readonly agentHooks: AgentHooks
  readonly options: AgentHooksOptions
}

function callbackFor(name: string, row: NativeEvent, { agentHooks, options }: CallbackContext): HookCallback {
  const { event = 'agent_event', honours = [] } = row
  return async (input, _toolUseId, { signal }) => {
    if (!agentHooks.listens(event)) return {}
    const native: NativePayload = { ...input }
    const reading = claudeCodeAdapter.read(name, native)
    const payload = row.event === undefined ? { name, ...reading.payload } : reading.payload
    const about: HookCallOptions = {
      envelope: { ...reading.envelope, ...envelopeOf(native, options) },
      signal,
    }
    if (honours.length === 0) {
      agentHooks.observe(event, payload as never, about)
      return {}
    }
    const asks = catalogue[event].mode === 'gate' ? agentHooks.gate : agentHooks.transform
    const decision = await asks(event, payload as never, about)
    const { outcome, undelivered } = deliverDecision(decision, honours, 'the Claude Agent SDK')
    if (undelivered.length > 0) agentHooks.log('agent.undelivered', { event, effects: undelivered })
    return outputOf(claudeCodeAdapter.reply(name, outcome, native))
  }
}

/** The program's options override the payload. A sub-agent is one level deeper. */
function envelopeOf(
  { agent_id, agent_type }: NativePayload,
  options: AgentHooksOptions,
): HookCallOptions['envelope'] & object {
  const { session, turn, agent, depth = 0 } = options
  if (typeof agent_id !== 'string') return definedFields({ session, turn })
  const named = typeof agent_type === 'string' ? agent_type : undefined
  return { depth: depth + 1, ...definedFields({ session, turn, agent: named, parentAgent: agent }) }
}

/** Translates the reply of a command hook to that of a callback. */
function outputOf(reply: ProcessReply): HookOutput {
  if (reply.exit !== 0) return { decision: 'block', reason: reply.stderr.trim() }
  return reply.stdout === '' ? {} : JSON.parse(reply.stdout)
}
