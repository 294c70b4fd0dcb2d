import type { Failure, HookId } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookFileStatus } from '../../hook-files/watch/watched-folder.ts'
import type { HookRow } from '../hook-tables.ts'
import { toDefinition } from './definition.ts'
import { registerStandIn } from './register-stand-in.ts'

/** The hooks of one tenant, its own and the global ones, as its next dispatch sees them. */
export interface Snapshot {
  readonly tenant: string
  readonly hooks: Hooks
  /** The stored hooks. */
  readonly rows: ReadonlyMap<HookId, HookRow>
  /** Details of a hook, stored or in a file. */
  find(hook: HookId): KnownHook | undefined
  /** The state of the hook files that were looked for; empty if none apply. */
  files(): readonly HookFileStatus[]
  /** Hooks that cannot be loaded, and why. Each has a stand-in that fails. */
  readonly broken: ReadonlyMap<HookId, string>
}

/** What a record says about a hook. */
export interface KnownHook
  extends Pick<HookDefinition, 'name' | 'ask' | 'approvers' | 'routes' | 'preapproves' | 'locked'> {
  readonly handler_type: string
  readonly enabled: boolean
  readonly if_expr?: string | null
  /** The hook is in a file and has no row. */
  readonly isInFile?: true
  /** The folder of that file. */
  readonly folder?: string
  /** The file is not as it was trusted; the hook is in force as it was. */
  readonly fileState?: 'changed' | 'gone'
}

/** The folder where an agent works and the one where its session began. The hook files of both apply. */
export interface AgentFolders {
  readonly cwd: string
  readonly start: string
  /** Other folders with hook files that one call touches. Their hooks may only block or ask. */
  readonly touched?: readonly string[]
}

/** The hook files of one folder, attached to the stored hooks. */
export interface AttachedFiles {
  find(hook: HookId): KnownHook | undefined
  status(): readonly HookFileStatus[]
  close(): void
}

export interface Definitions {
  readonly rows: readonly HookRow[]
  /** Global hooks that this tenant's breaker disabled, with the kind of failure. */
  readonly tripped: ReadonlyMap<HookId, Failure>
}

/** Each stored hook is its own group, so that changing one costs the same with any number of others. */
const groupOf = (id: HookId) => `stored:${id}`

/** Registers all stored hooks. A definition object that did not change keeps its compiled hook. */
export function registerStored(
  hooks: Hooks,
  { rows, tripped }: Definitions,
  remember: DefinitionMemory,
  before: ReadonlyMap<HookId, HookRow> = new Map(),
): Pick<Snapshot, 'rows' | 'broken'> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const id of before.keys()) if (!byId.has(id)) removeStored(hooks, id)
  const broken = new Map<HookId, string>()
  for (const row of rows) {
    const reason = registerOne(hooks, remember(row, tripped.get(row.id)))
    if (reason !== undefined) broken.set(row.id, reason)
  }
  return { rows: byId, broken }
}

/** Registers one stored hook. If it cannot be loaded, registers a stand-in and returns the reason. */
export function registerOne(hooks: Hooks, definition: HookDefinition): string | undefined {
  const group = groupOf(definition.id ?? '')
  try {
    hooks.replace(group, [definition])
    return undefined
  } catch (thrown) {
    const reason = errorText(thrown)
    registerStandIn(hooks, group, definition, reason)
    return reason
  }
}

export function removeStored(hooks: Hooks, id: HookId): void {
  hooks.replace(groupOf(id), [])
}

/** Stored hooks in the order of creation. */
export function byCreation(a: HookRow, b: HookRow): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
}

/** Returns the same definition object for the same version of a row, so that nothing is compiled twice. */
export type DefinitionMemory = (row: HookRow, trippedBy?: Failure) => HookDefinition

export function definitionMemory(): DefinitionMemory {
  let before = new Map<string, { row: HookRow; definition: HookDefinition }>()
  return (row, trippedBy) => {
    const key = `${row.id}|${row.version}|${trippedBy}`
    const found = before.get(key)
    if (found !== undefined && sameRow(found.row, row)) return found.definition
    const definition = toDefinition(row, trippedBy)
    // Old versions are never used again, so the cache is emptied now and then.
    if (before.size > 10_000) before = new Map()
    before.set(key, { row, definition })
    return definition
  }
}

/** A breaker changes a row without a new version of its content only by switching it. */
function sameRow(a: HookRow, b: HookRow): boolean {
  return a.enabled === b.enabled && a.updated_at === b.updated_at
}
