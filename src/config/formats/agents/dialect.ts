import type { Policy } from '../../../engine/core/event.ts'
import type { HookOptions } from '../../../engine/hook-definition.ts'

/** One hook of an agent, as far as the agents agree. Fields nobody knows are the agent's business. */
export interface AgentHook {
  readonly type?: string | undefined
  readonly command?: string | undefined
  readonly bash?: string | undefined
  readonly exec?: string | undefined
  readonly args?: readonly string[] | undefined
  readonly cwd?: string | undefined
  readonly env?: unknown
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly timeout?: number | undefined
  readonly timeoutSec?: number | undefined
  readonly matcher?: string | undefined
  readonly failClosed?: boolean | undefined
}

/** How the hooks of one agent are read. */
export interface Dialect {
  readonly layout: 'groups' | 'flat'
  /** Keys below `hooks` that are no events. */
  readonly notEvents?: readonly string[]
  /** Events that are ours with a condition. */
  readonly events?: Readonly<Record<string, EventReading>>
  timeoutMs(hook: AgentHook): number
  /** What a failure means there. */
  policies(hook: AgentHook, event: string): Policies
  /** Variables that its hooks may count on. */
  readonly variables: readonly string[]
}

interface EventReading {
  readonly event: string
  readonly fields: Pick<HookOptions, 'matcher' | 'match'>
}

export interface Policies {
  readonly on_error: Policy
  readonly on_timeout: Policy
  readonly on_invalid: Policy
}

export const failsOpen: Policies = { on_error: 'allow', on_timeout: 'allow', on_invalid: 'allow' }
export const failsClosed: Policies = { on_error: 'block', on_timeout: 'block', on_invalid: 'block' }
