import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { Store } from '../../store/store.ts'

/** The folders in which sessions of coding agents began, kept in the store: `cd` must not be a way around hook files. */
export interface SessionFolders {
  /**
   * Returns the folder in which a session began; `folder` for a new session. `/` means unknown. Rejects if the store cannot
   * tell, because the hooks of the session are then unknown too.
   */
  startOf(session: SessionName, folder: string): Promise<string>
}

interface SessionName {
  readonly tenant: string
  readonly agent: string
  readonly session: string
}

interface KnownStart {
  readonly start: string
  readonly storedAt: number
}

const MAX_SESSIONS = 10_000
/** How often a session that is in use is marked as such, so that it is not pruned. */
const MARK_MS = 3_600_000
/** How long an unknown folder is remembered: another node may learn it. */
const UNKNOWN_MS = 10_000
const UNKNOWN = '/'

export function createSessionFolders(store: Pick<Store, 'keepSessionFolder'>, clock: Clock): SessionFolders {
  const starts = new LRUCache<string, KnownStart>({ max: MAX_SESSIONS })
  return {
    async startOf({ tenant, agent, session }, folder) {
      const name = JSON.stringify([agent, session])
      const digest = createHash('sha256').update(name).digest('base64url')
      const key = `${tenant} ${digest}`
      const known = starts.get(key)
      if (known !== undefined && isCurrent(known, folder, clock.elapsed())) return known.start
      try {
        const stored = await store.keepSessionFolder(tenant, digest, folderToKeep(known, folder))
        const start = stored ?? UNKNOWN
        starts.set(key, { start, storedAt: clock.elapsed() })
        return start
      } catch (thrown) {
        if (known !== undefined && known.start !== UNKNOWN) return known.start
        throw thrown
      }
    },
  }
}

function isCurrent({ start, storedAt }: KnownStart, folder: string, now: number): boolean {
  if (start === UNKNOWN) return folder === UNKNOWN && now - storedAt < UNKNOWN_MS
  return now - storedAt < MARK_MS
}

/** A session in memory keeps its folder, even if its row was pruned. */
function folderToKeep(known: KnownStart | undefined, folder: string): string | undefined {
  const start = known === undefined || known.start === UNKNOWN ? folder : known.start
  return start === UNKNOWN ? undefined : start
}
