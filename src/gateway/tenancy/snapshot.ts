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

const GROUP = 'definitions'

/** Puts definitions into a set of hooks. Rows that did not change keep their compiled hook. */
export function fill(
  hooks: Hooks,
  definitions: Definitions,
  remember: DefinitionMemory,
): Pick<Snapshot, 'rows' | 'broken'> {
  const rows = definitions.rows.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
  const wanted = rows.map((row) => remember(row, definitions.tripped.has(row.id)))
  const byId = new Map(rows.map((row) => [row.id, row]))
  try {
    hooks.replace(GROUP, wanted)
    return { rows: byId, broken: new Map() }
  } catch {
    const broken = new Map<HookId, string>()
    hooks.replace(
      GROUP,
      wanted.map((definition) => {
        const why = problemOf(hooks, definition)
        if (why === undefined) return definition
        broken.set(definition.id ?? '', why)
        const same = standIn(definition, why, 'kept')
        return problemOf(hooks, same) === undefined ? same : standIn(definition, why, 'dropped')
      }),
    )
    return { rows: byId, broken }
  }
}

/** Tries a definition in a group of its own. */
function problemOf(hooks: Hooks, definition: HookDefinition): string | undefined {
  try {
    hooks.replace('trial', [{ ...definition, id: `trial of ${definition.id}` }])
    return undefined
  } catch (thrown) {
    return errorText(thrown)
  } finally {
    hooks.replace('trial', [])
  }
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
