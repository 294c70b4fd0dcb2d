import type { PayloadShape } from '../engine/core/schema/payload-shape.ts'
import type { AgentAdapter } from './agent-adapter.ts'
import type { AgentHost } from './agent-host.ts'
import type { AgentImporter } from './config/import-command-hooks.ts'

/** Everything that Hookhelm knows about one coding agent. */
export interface AgentProfile {
  /** Translates the agent's events to ours, and our decisions to its replies. */
  readonly adapter: AgentAdapter
  /** Where the agent keeps its configuration, and how hooks are written there. */
  readonly host: AgentHost
  /** Translates our events to the agent's own, for hooks that were written for the agent. */
  readonly payloadShape?: PayloadShape
  /**
   * Loads the translator of hooks from the agent's configuration, which needs a schema library that no other command
   * does. Agents that load plugins have none.
   */
  readonly importer?: () => Promise<AgentImporter>
}
