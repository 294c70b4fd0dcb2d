import type { Approvals } from '../approvals/approvals.ts'
import type { Handler, Host } from '../engine/core/handler.ts'
import type { AnalyzeShell } from '../engine/core/shell-effects.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { Edition } from '../engine/core/values/edition.ts'
import type { Demo } from '../gateway/demo/demo.ts'
import type { TenantRules } from '../rules/tenant-rules.ts'
import type { Coordinator } from '../runs/coordinator.ts'
import type { Secrets } from '../safe/secrets/secret.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import type { HooksInForce } from '../stored-hooks/saving/effective-hooks.ts'
import type { NodeChanges } from '../stored-hooks/snapshots/node-changes.ts'
import type { HookChange } from '../stored-hooks/snapshots/snapshots.ts'
import type { StatusPart } from './status-part.ts'

/** The parts that methods can ask for. A method receives only those that its row names in `needs`. */
export interface MethodParts {
  readonly store: Store
  readonly secrets: Secrets
  readonly settings: Settings
  readonly edition: Edition
  /** The tenant of callers that name none. */
  readonly defaultTenant: string
  /** The handlers of dispatches; saving a hook checks its definition against them. */
  readonly handlers: readonly Handler[]
  /** The same handlers for dry runs: they count, charge and cache nothing. */
  readonly dryHandlers: readonly Handler[]
  readonly host: Host
  /** Returns what a shell line does, without looking at files. */
  readonly shell: AnalyzeShell
  /** Makes the next dispatch of the tenant see its changed definitions; with the changed hook, without loading the others. */
  changed(tenant: string, change?: HookChange): Promise<void>
  /** The hooks that the next dispatch of a tenant sees, in a folder if one is given. */
  hooksInForce(tenant: string, folder: string | undefined): Promise<HooksInForce>
  /** The folders of this machine with hooks of their own, as far as the gateway knows them. */
  hookFolders(tenant: string): readonly string[]
  /** Makes every token be read from the store again. */
  forgetTokens(): void
  /** Calls the listener after this node has written executions; returns its undo. */
  onRecorded(listener: () => void): () => void
  /** What this node changed or noticed. */
  readonly nodeChanges: NodeChanges
  /** Makes the delivery worker look for due deliveries now. */
  wakeDeliveries(): void
  readonly demo: Demo
  readonly runs: Coordinator
  readonly approvals: Approvals
  /** The recovery rules in force. */
  readonly rules: TenantRules
  /** One entry per part that reports its health. */
  readonly status: readonly StatusPart[]
  readonly clock: Clock
  readonly version: string
}

export const hookParts = [
  'store',
  'secrets',
  'edition',
  'handlers',
  'dryHandlers',
  'host',
  'shell',
  'changed',
  'clock',
] as const satisfies readonly (keyof MethodParts)[]

/** The parts that save a hook and run it dry. */
export type HookParts = Pick<MethodParts, (typeof hookParts)[number]>
