import type { AgentAdapter, Effect } from './agent-adapter.ts'

/** Our event → its subject in the report, and the effects that matter there. */
const subjects = {
  pre_tool_use: { name: 'tool calls', effects: ['block', 'rewrite', 'ask'] },
  user_prompt_submit: { name: 'prompts', effects: ['block'] },
  permission_request: { name: 'permission requests', effects: ['block', 'grant'] },
  subagent_start: { name: 'sub-agents', effects: ['block'] },
  post_tool_use: { name: 'tool output', effects: ['rewrite'] },
  stop: { name: 'the end of a turn', effects: ['block'] },
} as const satisfies Readonly<Record<string, { name: string; effects: readonly Effect[] }>>

const effectNames: Readonly<Record<Effect, string>> = {
  block: 'blocked',
  rewrite: 'rewritten',
  ask: 'confirmed by a person',
  grant: 'granted',
  context: 'commented',
}

export interface AgentAbilities {
  /** For example `tool calls: blocked, rewritten`. */
  readonly can: readonly string[]
  readonly cannot: readonly string[]
}

/** A short description of what hooks can do with an agent. */
export function describeAbilities({ events }: AgentAdapter): AgentAbilities {
  const can: string[] = []
  const cannot: string[] = []
  for (const [event, { name, effects }] of Object.entries(subjects)) {
    // The first row of an event is the one that every call passes.
    const { honours: honoured = [] } =
      Object.values(events).find((row) => row.event === event && row.chatty !== true) ?? {}
    const [yes, no] = [true, false].map((wanted) =>
      effects.filter((effect) => honoured.includes(effect) === wanted).map((effect) => effectNames[effect]),
    )
    if (yes !== undefined && yes.length > 0) can.push(`${name}: ${yes.join(', ')}`)
    if (no !== undefined && no.length > 0) cannot.push(`${name}: ${no.join(', ')}`)
  }
  return { can, cannot }
}
