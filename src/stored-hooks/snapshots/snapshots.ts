import { LRUCache } from 'lru-cache'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { type HookError, isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { hookTitle } from '../../engine/core/hook-title.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import { type HookFileNotice, hookFileNotices } from '../../hook-files/watch/hook-file-notices.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Store } from '../../store/store.ts'
import type { HookRow } from '../hook-tables.ts'
import {
  type AgentFolders,
  type AttachedFiles,
  byCreation,
  type DefinitionMemory,
  definitionMemory,
  registerOne,
  registerStored,
  removeStored,
  type Snapshot,
} from './snapshot.ts'

/** A changed stored hook. Without a row it was deleted. */
export interface HookChange {
  readonly hookId: string
  readonly row?: HookRow
}

interface SnapshotsOptions {
  readonly store: Pick<Store, 'loadDefinitions' | 'findTenant'>
  readonly settings: Settings
  /**
   * Creates the hooks of one tenant. `folderOf` returns the folder of a hook's file, if it has one. `isLocal`: their events come
   * from this machine.
   */
  makeHooks(tenant: string, folderOf: (hook: string) => string | undefined, isLocal: boolean): Hooks
  /** Adds the hook files of a folder and watches them. Throws for an invalid file. */
  attachFiles?(hooks: Hooks, folder: AgentFolders): AttachedFiles
  /** Called once changed hooks of a tenant are in use here; not for its first load. */
  onReload?(tenant: string): void
  /** How many tenants stay loaded. Others are loaded again when they are used. */
  readonly max?: number
  /** The same for folders, whose files are checked every second. */
  readonly maxFolders?: number
}

/** The loaded state of one tenant. Concurrent callers share one load. */
interface Entry {
  snapshot?: Snapshot
  loading?: Promise<Snapshot>
  readonly tenant: string
  readonly folder: AgentFolders | undefined
  files?: AttachedFiles
  /** Evicted or deleted. Waiting callers still get it, but its files are no longer watched. */
  isGone: boolean
  /** The breaker setting that its hooks were created with. */
  breaker?: string
  /** The version of the tenant's definitions in use. */
  version?: number
  /** Counts changes, so that a load that began before a change does not count as current. */
  changes: number
  readonly remember: DefinitionMemory
}

/** The hooks of every tenant, as they are in force. */
export class Snapshots {
  readonly #options: SnapshotsOptions
  readonly #tenants: LRUCache<string, Entry>
  readonly #folders: LRUCache<string, Entry>
  /** Folders that could not be loaded, so that their files stay visible. */
  readonly #failed: LRUCache<string, FailedFolder>
  readonly #rememberGlobal = definitionMemory()
  #globals: Promise<readonly HookRow[]> | undefined

  constructor(options: SnapshotsOptions) {
    const { max = 2_000, maxFolders = 64 } = options
    this.#options = options
    const dispose = (entry: Entry) => {
      entry.isGone = true
      entry.files?.close()
    }
    this.#tenants = new LRUCache({ max, dispose })
    this.#folders = new LRUCache({ max: maxFolders, dispose })
    this.#failed = new LRUCache({ max: maxFolders })
  }

  /** Synchronous if the tenant is loaded. Only the first dispatch of a tenant asks the store. */
  of(tenant: string, folder?: AgentFolders): Snapshot | Promise<Snapshot> {
    const key =
      folder === undefined ? tenant : [tenant, folder.cwd, folder.start, ...(folder.touched ?? [])].join('\0')
    const entry = this.#entryOf(key, tenant, folder)
    return entry.snapshot ?? this.#reload(key, entry)
  }

  /**
   * Reloads the definitions and settings of a tenant; for the master tenant, those of all tenants. With a version,
   * skips snapshots that have it already.
   */
  async refresh(tenant: string, version?: number): Promise<void> {
    const isMaster = tenant === MASTER_TENANT
    if (isMaster) {
      this.#globals = undefined
      await this.#options.settings.reload(MASTER_TENANT)
    }
    const concerned = this.#all().filter(([, entry]) => isMaster || entry.tenant === tenant)
    const stale = concerned.filter(
      ([, entry]) => isMaster || version === undefined || entry.version !== version,
    )
    await Promise.all(
      stale.map(([key, entry]) => {
        entry.changes++
        return this.#refreshEntry(key, entry)
      }),
    )
  }

  /** Applies one changed hook without loading the others. */
  async applyChange(tenant: string, change: HookChange): Promise<void> {
    if (tenant === MASTER_TENANT) return this.refresh(tenant)
    const concerned = this.#all().filter(([, entry]) => entry.tenant === tenant)
    await Promise.all(
      concerned.map(async ([key, entry]) => {
        // A load in progress may not include the change, so it starts over.
        entry.changes++
        if (entry.loading === undefined && tryToApply(entry, change)) this.#options.onReload?.(tenant)
        else await this.#refreshEntry(key, entry)
      }),
    )
  }

  /** The loaded snapshots. */
  loaded(): readonly Snapshot[] {
    return this.#all().flatMap(([, { snapshot }]) => (snapshot === undefined ? [] : [snapshot]))
  }

  /** Where the agents of a tenant worked, as far as it is in memory. */
  folders(tenant: string): readonly AgentFolders[] {
    return [...this.#folders.values(), ...this.#failed.values()].flatMap((entry) =>
      entry.tenant === tenant && entry.folder !== undefined ? [entry.folder] : [],
    )
  }

  /** What a person should know about the hook files of a tenant. Loads folders that failed again: their files may be mended. */
  async fileNotices(tenant: string): Promise<readonly HookFileNotice[]> {
    const broken = [...this.#failed.values()].filter((failure) => failure.tenant === tenant)
    await Promise.allSettled(broken.map(async ({ folder }) => this.of(tenant, folder)))
    const notices = [
      ...[...this.#failed.values()].filter((failure) => failure.tenant === tenant).map(failureNotice),
      ...this.#all().flatMap(([, { tenant: owner, files }]) =>
        owner === tenant ? (files?.status() ?? []).flatMap(hookFileNotices) : [],
      ),
    ]
    return [...new Map(notices.map((notice) => [notice.text, notice])).values()]
  }

  close(): void {
    this.#tenants.clear()
    this.#folders.clear()
  }

  #all(): readonly [string, Entry][] {
    return [...this.#tenants, ...this.#folders]
  }

  #loadGlobals(): Promise<readonly HookRow[]> {
    this.#globals ??= this.#options.store.loadDefinitions(MASTER_TENANT).then(({ hooks }) => hooks)
    this.#globals.catch(() => {
      this.#globals = undefined
    })
    return this.#globals
  }

  /** Attaches the files to new hooks, and closes the old files once the new hooks are complete. */
  #attach(hooks: Hooks, entry: Entry): AttachedFiles | undefined {
    const { attachFiles } = this.#options
    if (entry.folder === undefined || attachFiles === undefined) return undefined
    const before = entry.files
    try {
      entry.files = attachFiles(hooks, entry.folder)
    } catch (thrown) {
      throw isHookError(thrown) ? unusableFile(thrown) : thrown
    }
    before?.close()
    if (entry.isGone) entry.files.close()
    return entry.files
  }

  async #load(entry: Entry): Promise<Snapshot> {
    const { store, settings, makeHooks, onReload } = this.#options
    const { tenant } = entry
    const folderOf = (hook: string) => entry.files?.find(hook)?.folder
    for (;;) {
      const { changes } = entry
      await settings.reload(tenant)
      const [own, shared, row] = await Promise.all([
        store.loadDefinitions(tenant),
        this.#loadGlobals(),
        tenant === MASTER_TENANT ? MASTER_TENANT : store.findTenant(tenant),
      ])
      // A deleted tenant has no hooks, and without hooks every gate would allow.
      if (row === undefined) throw serverError('gateway.not_found', 'there is no such tenant')
      if (changes !== entry.changes) continue
      const breaker = JSON.stringify(settings.of(tenant).breaker ?? {})
      const isOwn = (row: HookRow) => row.tenant_id === tenant && tenant !== MASTER_TENANT
      const remember: DefinitionMemory = (row, trippedBy) =>
        isOwn(row) || trippedBy ? entry.remember(row, trippedBy) : this.#rememberGlobal(row)
      const rows = [...own.hooks.filter(isOwn), ...shared].toSorted(byCreation)
      const { snapshot: before } = entry
      const isSame =
        before !== undefined && entry.breaker === breaker && keepsOrder([...before.rows.keys()], rows)
      const hooks = isSame ? before.hooks : makeHooks(tenant, folderOf, entry.folder !== undefined)
      const definitions = { rows, tripped: new Map(own.tripped.map(({ hookId, by }) => [hookId, by])) }
      const filled = registerStored(hooks, definitions, remember, isSame ? before.rows : undefined)
      const files = isSame ? entry.files : this.#attach(hooks, entry)
      entry.breaker = breaker
      entry.version = own.version
      entry.snapshot = snapshotOf(tenant, hooks, filled, files)
      if (before !== undefined) onReload?.(tenant)
      return entry.snapshot
    }
  }

  #reload(key: string, entry: Entry): Promise<Snapshot> {
    entry.loading ??= this.#load(entry)
      .then((snapshot) => {
        this.#failed.delete(key)
        return snapshot
      })
      .catch((thrown) => {
        const { tenant, folder } = entry
        if (folder !== undefined && isHookFileError(thrown))
          this.#failed.set(key, { tenant, folder, error: thrown })
        const cache = this.#cacheOf(folder)
        if (isFinal(thrown, entry) && cache.peek(key) === entry) cache.delete(key)
        throw thrown
      })
      .finally(() => {
        delete entry.loading
      })
    return entry.loading
  }

  #refreshEntry(key: string, entry: Entry): Promise<unknown> {
    return this.#reload(key, entry).catch((thrown) => {
      // An evicted entry needs no refresh. A folder that could not be loaded is loaded again on its next use.
      if (!entry.isGone && (entry.folder === undefined || entry.snapshot !== undefined)) throw thrown
    })
  }

  #cacheOf(folder: AgentFolders | undefined): LRUCache<string, Entry> {
    return folder === undefined ? this.#tenants : this.#folders
  }

  #entryOf(key: string, tenant: string, folder: AgentFolders | undefined): Entry {
    const known = this.#cacheOf(folder).get(key)
    if (known !== undefined) return known
    const fresh: Entry = { tenant, folder, changes: 0, isGone: false, remember: definitionMemory() }
    this.#cacheOf(folder).set(key, fresh)
    return fresh
  }
}

function snapshotOf(
  tenant: string,
  hooks: Hooks,
  stored: Pick<Snapshot, 'rows' | 'broken'>,
  files: AttachedFiles | undefined,
): Snapshot {
  return {
    tenant,
    hooks,
    ...stored,
    find(hook) {
      const row = stored.rows.get(hook)
      return row === undefined ? files?.find(hook) : { ...row, name: hookTitle(row) }
    },
    files: () => files?.status() ?? [],
  }
}

/** Whether these hooks keep their order and new ones follow them, because an engine keeps the order of creation. */
function keepsOrder(before: readonly string[], rows: readonly HookRow[]): boolean {
  const ids = rows.map(({ id }) => id)
  const present = new Set(ids)
  return before.filter((id) => present.has(id)).every((id, index) => ids[index] === id)
}

/** A hook that cannot be registered, because a file uses its id, is handled by a complete load. */
function tryToApply(entry: Entry, change: HookChange): boolean {
  try {
    return applyToEntry(entry, change)
  } catch {
    return false
  }
}

/** Applies the change of one hook of the tenant itself. Returns false if everything must be reloaded. */
function applyToEntry(entry: Entry, { hookId, row }: HookChange): boolean {
  const { snapshot, tenant, version, files } = entry
  if (snapshot === undefined || version === undefined) return false
  const known = snapshot.rows.get(hookId)
  if (row === undefined) {
    if (known !== undefined) removeStored(snapshot.hooks, hookId)
  } else {
    if (row.tenant_id !== tenant) return false
    const last = [...snapshot.rows.values()].at(-1)
    if (known === undefined && last !== undefined && byCreation(last, row) > 0) return false
    // A later change is already applied.
    if (known !== undefined && known.version > row.version) return true
  }
  const rows = new Map(snapshot.rows)
  const broken = new Map(snapshot.broken)
  broken.delete(hookId)
  if (row === undefined) rows.delete(hookId)
  else {
    const reason = registerOne(snapshot.hooks, entry.remember(row))
    if (reason !== undefined) broken.set(hookId, reason)
    rows.set(hookId, row)
  }
  entry.snapshot = snapshotOf(tenant, snapshot.hooks, { rows, broken }, files)
  // The change raised the stored version by one. If another change came in between, the next poll finds it.
  entry.version = version + 1
  return true
}

interface FailedFolder {
  readonly tenant: string
  readonly folder: AgentFolders
  readonly error: HookError
}

/** The code says that a file is at fault; the message keeps the code, file and line of every problem. */
function unusableFile(error: HookError): HookError {
  const at = error.at === undefined ? {} : { at: error.at }
  return serverError('config.hook_file', error.message, { cause: error, ...at })
}

/** Whether hooks could not be loaded because of a hook file. */
export function isHookFileError(thrown: unknown): thrown is HookError {
  return isHookError(thrown) && thrown.code === 'config.hook_file'
}

/** The message of the error lists every problem with its file and line. */
function failureNotice({ error }: FailedFolder): HookFileNotice {
  const { message, at = '' } = error
  return { file: at.replace(/:\d+:\d+$/, ''), effect: 'closed', text: message }
}

/** Whether the old snapshot is useless: the tenant is deleted, or the folder's files no longer fit its hooks. */
function isFinal(thrown: unknown, { folder }: Entry): boolean {
  if (!isHookError(thrown)) return false
  return thrown.code === 'gateway.not_found' || (folder !== undefined && thrown.code.startsWith('config.'))
}
