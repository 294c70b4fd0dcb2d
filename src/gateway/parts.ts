import type { Clock } from '../engine/core/clock.ts'
import type { Edition } from '../engine/core/edition.ts'
import type { Handler, Host } from '../engine/core/handler.ts'
import type { Log } from '../engine/core/sink.ts'
import type { Secrets } from '../safe/secret.ts'
import type { Store } from '../store/store.ts'
import type { AgentDoor } from './agents/agent-door.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import type { Settings } from './settings.ts'
import type { StatusPart } from './status.ts'
import type { HookChange } from './tenancy/snapshots.ts'

/** Everything the methods of the gateway work with. */
export interface GatewayParts {
  readonly store: Store
  readonly dispatcher: Dispatcher
  /** Where coding agents are answered in their own language. */
  readonly agents: AgentDoor
  readonly secrets: Secrets
  readonly settings: Settings
  readonly edition: Edition
  /** The tenant of callers that name none. */
  readonly defaultTenant: string
  /** Handlers as dispatches use them, to check a definition when it is saved. */
  readonly handlers: readonly Handler[]
  /** Handlers for a dry run: the same, but nothing is counted, charged or remembered. */
  readonly dryHandlers: readonly Handler[]
  readonly host: Host
  /** Makes the next dispatch of the tenant see its changed definitions; with the changed hook, without loading the others. */
  changed(tenant: string, change?: HookChange): Promise<void>
  /** A token was deleted on this node. */
  forgetTokens(): void
  /** Calls back when executions were written on this node; undo with the answer. */
  onRecorded(listener: () => void): () => void
  /** A delivery became due on this node. */
  wakeDeliveries(): void
  /** What each part has to say about itself. */
  readonly status: readonly StatusPart[]
  readonly clock: Clock
  readonly log: Log
  readonly version: string
}
