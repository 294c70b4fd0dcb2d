import type { PluginHookName } from './shape/hook-shape.ts'

/** Whether the runner logs what a handler throws (`fail-open`) or throws it (`fail-closed`). */
export type HookFailurePolicy = 'fail-open' | 'fail-closed'

/** How one hook differs from the others. A hook that is not listed fails open and has no time limit. */
export interface HookRule {
  /** The time limit of a handler, unless its registration or the options set another. */
  readonly timeoutMs?: number
  readonly failure?: HookFailurePolicy
  /** The runner copies the run id of the context into an event that has none. */
  readonly takesRunId?: true
  /** `null` counts as an answer. */
  readonly readsNull?: true
  /** The result names the plugin that answered. */
  readonly namesPlugin?: true
  /** The log's name for the answer that ends the chain. */
  readonly stopsWith?: string
}

export const hookRules: Readonly<Partial<Record<PluginHookName, HookRule>>> = {
  before_agent_start: { takesRunId: true },
  before_agent_finalize: { takesRunId: true },
  agent_end: { takesRunId: true, timeoutMs: 30_000 },
  before_prompt_build: { timeoutMs: 15_000 },
  before_agent_run: {
    timeoutMs: 15_000,
    failure: 'fail-closed',
    readsNull: true,
    namesPlugin: true,
    stopsWith: 'gate-decision',
  },
  before_tool_call: { stopsWith: 'block=true' },
  before_install: { stopsWith: 'block=true' },
  message_sending: { stopsWith: 'cancel=true' },
}
