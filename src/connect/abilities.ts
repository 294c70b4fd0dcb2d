import type { AgentAdapter, Effect } from '../agents/agent.ts'

/** What people want to stop or change, and the event that is about it. */
const subjects = {
  pre_tool_use: { name: 'tool calls', effects: ['block', 'rewrite', 'ask'] },
  user_prompt_submit: { name: 'prompts', effects: ['block'] },
  permission_request: { name: 'permission requests', effects: ['block', 'grant'] },
  subagent_start: { name: 'sub-agents', effects: ['block'] },
  post_tool_use: { name: 'tool output', effects: ['rewrite'] },
  stop: { name: 'the end of a turn', effects: ['block'] },
} as const satisfies Readonly<Record<string, { name: string; effects: readonly Effect[] }>>

const words: Readonly<Record<Effect, string>> = {
  block: 'blocked',
  rewrite: 'rewritten',
  ask: 'put to a person',
  grant: 'granted',
  context: 'commented',
}

export interface Abilities {
  /** `tool calls can be blocked, rewritten`. */
  readonly can: readonly string[]
  readonly cannot: readonly string[]
}

/** What hooks can do with an agent, in a few words. */
export function abilitiesOf({ events }: AgentAdapter): Abilities {
  const can: string[] = []
  const cannot: string[] = []
  for (const [event, { name, effects }] of Object.entries(subjects)) {
    // The first is the one that everything passes.
    const { honours: honoured = [] } =
      Object.values(events).find((row) => row.event === event && row.chatty !== true) ?? {}
    const [yes, no] = [true, false].map((wanted) =>
      effects.filter((effect) => honoured.includes(effect) === wanted).map((effect) => words[effect]),
    )
    if (yes !== undefined && yes.length > 0) can.push(`${name}: ${yes.join(', ')}`)
    if (no !== undefined && no.length > 0) cannot.push(`${name}: ${no.join(', ')}`)
  }
  return { can, cannot }
}
