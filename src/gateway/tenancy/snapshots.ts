import { LRUCache } from 'lru-cache'
import { isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { Store } from '../../store/store.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import type { Settings } from '../settings.ts'
import {
  type AttachedFiles,
  type DefinitionMemory,
  definitionMemory,
  fill,
  type Snapshot,
  type WorkPlace,
} from './snapshot.ts'

export interface Snapshots {
  /** At once when it is loaded; the store is asked at the first dispatch of a tenant only. */
  of(tenant: string, folder?: WorkPlace): Snapshot | Promise<Snapshot>
  /** Definitions or settings of a tenant changed; with the master tenant those of everybody. */
  refresh(tenant: string): Promise<void>
  /** Those that are loaded. */
  loaded(): readonly Snapshot[]
  /** Hook files in use that cannot be used as they are now. */
  fileProblems(): readonly string[]
  close(): void
}

interface SnapshotsOptions {
  readonly store: Pick<Store, 'loadDefinitions' | 'findTenant'>
  readonly settings: Settings
  /** Makes the set of hooks of one tenant; `placeOf` tells in which folder a hook is written down, if in any. */
  makeHooks(tenant: string, placeOf: (hook: string) => string | undefined): Hooks
  /** Puts the hook files of a folder into the set, and follows them. Throws for a file that cannot be used. */
  attachFiles?(hooks: Hooks, folder: WorkPlace): AttachedFiles
  /** How many tenants are kept loaded; others are loaded again when they come back. */
  readonly max?: number
  /** The same for folders, whose files are looked at every second. */
  readonly maxFolders?: number
}

/** Loaded state of one tenant. Never waits twice for the same load. */
interface Entry {
  snapshot?: Snapshot
  loading?: Promise<Snapshot>
  readonly tenant: string
  readonly folder: WorkPlace | undefined
  files?: AttachedFiles
  /** Pushed out or deleted: whoever still waits for it gets it, and nobody follows its files. */
  isGone: boolean
  /** The breaker setting its hooks were made with. */
  breaker?: string
  /** Counts changes, so that a load that began before one is not taken for the newest. */
  changes: number
  readonly remember: DefinitionMemory
}

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  const { store, settings, makeHooks, attachFiles, max = 2_000, maxFolders = 64 } = options
  const dispose = (entry: Entry) => {
    entry.isGone = true
    entry.files?.close()
  }
  const tenants = new LRUCache<string, Entry>({ max, dispose })
  const folders = new LRUCache<string, Entry>({ max: maxFolders, dispose })
  const all = () => [...tenants, ...folders]
  const rememberGlobal = definitionMemory()
  let globals: Promise<readonly HookRow[]> | undefined

  const loadGlobals = (): Promise<readonly HookRow[]> => {
    globals ??= store.loadDefinitions(MASTER_TENANT).then(({ hooks }) => hooks)
    globals.catch(() => {
      globals = undefined
    })
    return globals
  }

  /** Anew with the hooks: what was attached to the old ones is let go once the new ones are complete. */
  const attach = (hooks: Hooks, entry: Entry): AttachedFiles | undefined => {
    if (entry.folder === undefined || attachFiles === undefined) return undefined
    const before = entry.files
    entry.files = attachFiles(hooks, entry.folder)
    before?.close()
    if (entry.isGone) entry.files.close()
    return entry.files
  }

  const load = async (entry: Entry): Promise<Snapshot> => {
    const { tenant } = entry
    const placeOf = (hook: string) => entry.files?.find(hook)?.place
    for (;;) {
      const { changes } = entry
      await settings.reload(tenant)
      const [own, shared, row] = await Promise.all([
        store.loadDefinitions(tenant),
        loadGlobals(),
        tenant === MASTER_TENANT ? MASTER_TENANT : store.findTenant(tenant),
      ])
      // A tenant that is gone has no hooks, and without hooks every gate would be open.
      if (row === undefined) throw serverError('gateway.not_found', 'there is no such tenant')
      if (changes !== entry.changes) continue
      const breaker = JSON.stringify(settings.of(tenant).breaker ?? {})
      const isSame = entry.snapshot !== undefined && entry.breaker === breaker
      const hooks = isSame && entry.snapshot !== undefined ? entry.snapshot.hooks : makeHooks(tenant, placeOf)
      const isOwn = (row: HookRow) => row.tenant_id === tenant && tenant !== MASTER_TENANT
      const remember = (row: HookRow, isTripped: boolean): HookDefinition =>
        isOwn(row) || isTripped ? entry.remember(row, isTripped) : rememberGlobal(row, isTripped)
      const rows = [...own.hooks.filter(isOwn), ...shared]
      const filled = fill(hooks, { rows, tripped: new Set(own.tripped) }, remember)
      const files = isSame ? entry.files : attach(hooks, entry)
      entry.breaker = breaker
      entry.snapshot = {
        tenant,
        hooks,
        ...filled,
        find: (hook) => filled.rows.get(hook) ?? files?.find(hook),
      }
      return entry.snapshot
    }
  }

  const reload = (key: string, entry: Entry): Promise<Snapshot> => {
    entry.loading ??= load(entry)
      .catch((thrown) => {
        if (isFinal(thrown, entry)) forget(key, entry)
        throw thrown
      })
      .finally(() => {
        delete entry.loading
      })
    return entry.loading
  }

  const forget = (key: string, entry: Entry) => {
    const cache = cacheOf(entry.folder)
    if (cache.peek(key) === entry) cache.delete(key)
  }

  const cacheOf = (folder: WorkPlace | undefined) => (folder === undefined ? tenants : folders)

  const entryOf = (key: string, tenant: string, folder: WorkPlace | undefined): Entry => {
    const known = cacheOf(folder).get(key)
    if (known !== undefined) return known
    const fresh: Entry = { tenant, folder, changes: 0, isGone: false, remember: definitionMemory() }
    cacheOf(folder).set(key, fresh)
    return fresh
  }

  return {
    of(tenant, folder) {
      const key = folder === undefined ? tenant : [tenant, folder.cwd, folder.start].join('\0')
      const entry = entryOf(key, tenant, folder)
      return entry.snapshot ?? reload(key, entry)
    },
    async refresh(tenant) {
      const isMaster = tenant === MASTER_TENANT
      if (isMaster) {
        globals = undefined
        await settings.reload(MASTER_TENANT)
      }
      const concerned = all().filter(([, entry]) => isMaster || entry.tenant === tenant)
      await Promise.all(
        concerned.map(([key, entry]) => {
          entry.changes++
          return reload(key, entry).catch((thrown) => {
            // Gone meanwhile: nothing is left to refresh. A folder that could not be loaded is tried when it is asked for.
            if (!entry.isGone && (entry.folder === undefined || entry.snapshot !== undefined)) throw thrown
          })
        }),
      )
    },
    fileProblems: () => [...new Set(all().flatMap(([, { files }]) => files?.problems() ?? []))],
    close() {
      tenants.clear()
      folders.clear()
    },
    loaded: () => all().flatMap(([, { snapshot }]) => (snapshot === undefined ? [] : [snapshot])),
  }
}

/** Keeping what was loaded would not help: the tenant is gone, or the files of the folder no longer go with its hooks. */
function isFinal(thrown: unknown, { folder }: Entry): boolean {
  if (!isHookError(thrown)) return false
  return thrown.code === 'gateway.not_found' || (folder !== undefined && thrown.code.startsWith('config.'))
}
