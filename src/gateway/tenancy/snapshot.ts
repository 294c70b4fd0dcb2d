import type { HookId } from '../../engine/core/decision.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { standIn, toDefinition, whyBroken } from './definition.ts'

/** The hooks of one tenant, its own and the global ones, as its next dispatch sees them. */
export interface Snapshot {
  readonly tenant: string
  readonly hooks: Hooks
  /** Those that are stored. */
  readonly rows: ReadonlyMap<HookId, HookRow>
  /** What is known of a hook, wherever it is written down. */
  find(hook: HookId): KnownHook | undefined
  /** Hooks that cannot be loaded, and why; each has a stand-in that fails. */
  readonly broken: ReadonlyMap<HookId, string>
}

/** What the record of a hook tells of it. */
export interface KnownHook {
  readonly handler_type: string
  readonly enabled: boolean
  readonly if_expr?: string | null
  /** It stands in a file, and no row of the database knows it. */
  readonly isInFile?: true
  /** The folder of that file. */
  readonly place?: string
}

/** Where an agent works, and where its session began: the hook files of both count. */
export interface WorkPlace {
  readonly cwd: string
  readonly start: string
}

/** The hook files of one folder, in use beside the stored hooks. */
export interface AttachedFiles {
  find(hook: HookId): KnownHook | undefined
  /** Files that cannot be used or that nobody trusts. */
  problems(): readonly string[]
  close(): void
}

export interface Definitions {
  readonly rows: readonly HookRow[]
  /** Global hooks that this tenant's breaker switched off. */
  readonly tripped: ReadonlySet<HookId>
}

/** Each stored hook is a group of its own, so that a change of one costs the same beside any number of others. */
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
    const reason = registerOne(hooks, remember(row, tripped.has(row.id)))
    if (reason !== undefined) broken.set(row.id, reason)
  }
  return { rows: byId, broken }
}

/** Registers one stored hook. If it cannot be loaded, a stand-in takes its place and the reason is returned. */
export function registerOne(hooks: Hooks, definition: HookDefinition): string | undefined {
  const group = groupOf(definition.id ?? '')
  try {
    hooks.replace(group, [definition])
    return undefined
  } catch (thrown) {
    const reason = errorText(thrown)
    try {
      hooks.replace(group, [standIn(definition, reason, 'kept')])
    } catch {
      // Its conditions cannot be read either, so the stand-in fails on every event.
      hooks.replace(group, [standIn(definition, reason, 'dropped')])
    }
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

/** Answers the very same definition for the same version of a row, so that nothing is compiled twice. */
export type DefinitionMemory = (row: HookRow, isTripped: boolean) => HookDefinition

export function definitionMemory(): DefinitionMemory {
  let before = new Map<string, { row: HookRow; definition: HookDefinition }>()
  return (row, isTripped) => {
    const key = `${row.id}|${row.version}|${isTripped}`
    const found = before.get(key)
    if (found !== undefined && sameRow(found.row, row)) return found.definition
    const definition = toDefinition(row, isTripped)
    // Old versions are never asked for again, so the memory starts over now and then.
    if (before.size > 10_000) before = new Map()
    before.set(key, { row, definition })
    return definition
  }
}

/** A breaker changes a row without a new version of its content only by switching it. */
function sameRow(a: HookRow, b: HookRow): boolean {
  return a.enabled === b.enabled && a.updated_at === b.updated_at
}

/** The handler of stand-ins. */
export const brokenHandler: Handler<string> = {
  type: 'broken',
  read: (_, hook) => whyBroken(hook),
  run({ config, hook }) {
    throw new HookError('config.unknown_handler', `${hook.id} cannot be loaded: ${config}`)
  },
}
