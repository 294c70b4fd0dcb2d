/** The door for programs on the Claude Agent SDK: the `hooks` of its `query()`. */

import type { NativeEvent, NativePayload, ProcessReply } from '../agents/agent-adapter.ts'
import { claudeCodeAdapter } from '../agents/claude-code/adapter.ts'
import { deliver } from '../agents/translate/outcome.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { type About, type Asker, createAsker, type HelmOptions } from './asker.ts'

export type { HelmOptions } from './asker.ts'

/** Of one event only, so the compiler is told no more than the SDK wants to hear. */
type EventOutput = ReturnType<typeof JSON.parse>

/** What a callback answers, as the SDK reads it. */
export interface HookOutput {
  readonly decision?: 'block'
  readonly reason?: string
  readonly hookSpecificOutput?: EventOutput
}

export type HookCallback = (
  input: object,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<HookOutput>

export interface HookMatcher {
  hooks: HookCallback[]
  timeout: number
  onFailure?: 'block'
}

export type ClaudeAgentOptions = HelmOptions & {
  /** Seconds until the SDK no longer waits for hooks; must be more than a gateway or a hook may take. 60 if omitted. */
  readonly timeout?: number
}

/** To be the `hooks` of `query()`, beside or in place of the program's own. */
export function hookhelm({ timeout = 60, ...options }: ClaudeAgentOptions): Record<string, HookMatcher[]> {
  const asker = createAsker(options, 'claude-agent-sdk')
  const rows: readonly (readonly [string, NativeEvent])[] = Object.entries(claudeCodeAdapter.events)
  return Object.fromEntries(
    rows.flatMap(([name, row]) => {
      if (row.chatty) return []
      const matcher: HookMatcher = { hooks: [callbackFor(name, row, { asker, options })], timeout }
      // Without it the SDK goes on when a callback fails or is late.
      return [[name, [blocks(row) ? { ...matcher, onFailure: 'block' } : matcher]]]
    }),
  )
}

function blocks({ event, honours = [] }: NativeEvent): boolean {
  return event !== undefined && honours.includes('block') && catalogue[event].onFailure === 'block'
}

interface Means {
  readonly asker: Asker
  readonly options: HelmOptions
}

function callbackFor(name: string, row: NativeEvent, { asker, options }: Means): HookCallback {
  const { event = 'agent_event', honours = [] } = row
  return async (input, _toolUseId, { signal }) => {
    if (!asker.listens(event)) return {}
    const native: NativePayload = { ...input }
    const reading = claudeCodeAdapter.read(name, native)
    const payload = row.event === undefined ? { name, ...reading.payload } : reading.payload
    const about: About = { envelope: { ...reading.envelope, ...momentOf(native, options) }, signal }
    if (honours.length === 0) {
      asker.observe(event, payload as never, about)
      return {}
    }
    const asks = catalogue[event].mode === 'gate' ? asker.gate : asker.transform
    const decision = await asks(event, payload as never, about)
    const { outcome, undelivered } = deliver(decision, honours, 'the Claude Agent SDK')
    if (undelivered.length > 0) asker.log('agent.undelivered', { event, effects: undelivered })
    return outputOf(claudeCodeAdapter.reply(name, outcome, native))
  }
}

/** What the program says about itself stands over what the payload says; a sub-agent is one level deeper. */
function momentOf({ agent_id, agent_type }: NativePayload, options: HelmOptions): About['envelope'] & object {
  const { session, turn, agent, depth = 0 } = options
  return {
    ...(session === undefined ? {} : { session }),
    ...(turn === undefined ? {} : { turn }),
    ...(typeof agent_id === 'string'
      ? {
          depth: depth + 1,
          ...(typeof agent_type === 'string' ? { agent: agent_type } : {}),
          ...(agent === undefined ? {} : { parentAgent: agent }),
        }
      : {}),
  }
}

/** The reply of a command hook as a callback gives it. */
function outputOf(reply: ProcessReply): HookOutput {
  if (reply.exit !== 0) return { decision: 'block', reason: reply.stderr.trim() }
  return reply.stdout === '' ? {} : JSON.parse(reply.stdout)
}
