import type { PluginHookName } from './shape/hook-shape.ts'

export type HookFailurePolicy = 'fail-open' | 'fail-closed'

/** Where one hook differs from the rest. A hook that is not listed fails open, waits for ever and has no extras. */
export interface HookRule {
  /** How long a handler may take unless its registration or the options say otherwise. */
  readonly timeoutMs?: number
  readonly failure?: HookFailurePolicy
  /** The event gets the run id of the context when it has none. */
  readonly takesRunId?: true
  /** `null` is an answer, not silence. */
  readonly readsNull?: true
  /** The answer names the plugin that made it. */
  readonly namesPlugin?: true
  /** What the log calls the answer that ends the chain. */
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
