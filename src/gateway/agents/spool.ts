import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '../../access/caller.ts'
import { errorText, HookError, isHookError } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { parseJson } from '../../safe/json.ts'
import { type AgentDoor, type PastEvent, requireAgent } from './agent-door.ts'

/** Events that coding agents wrote to disk while no gateway answered. */
export interface Spool {
  /** Records every spooled event; resolves with the number of files. */
  take(): Promise<number>
  /** Resolves when the current file is finished. */
  stop(): Promise<void>
}

interface SpoolParts {
  readonly folder: string
  readonly agents: AgentDoor
  readonly caller: Caller
  readonly clock: Clock
  readonly log: Log
}

const POLL_MS = 2_000
const MAX_BYTES = 16 * 1_048_576
const LIMITS = { maxBytes: MAX_BYTES, maxKeys: 200_000, maxDepth: 128 } as const
/** `<milliseconds>-<process>.json`, with an optional counter after the process id. */
const FILE = /^\d{1,16}-[\d-]{1,24}\.json$/
const OVERFLOW = 'overflow'

/** Watches the spool folder. A file is removed after its event is recorded, so a crash loses nothing. */
export function startSpool(parts: SpoolParts): Spool {
  const { clock, log } = parts
  const ended = new AbortController()
  let taking: Promise<number> | undefined
  const take = () => {
    taking ??= takeAll(parts, ended.signal).finally(() => {
      taking = undefined
    })
    return taking
  }
  const poll = () => {
    take().catch((thrown) => log('agent.spool_waits', { error: errorText(thrown) }))
  }
  poll()
  const ticker = clock.every(POLL_MS, poll)
  ticker.hold(false)
  return {
    take,
    async stop() {
      ticker.stop()
      ended.abort()
      await taking?.catch(() => {})
    },
  }
}

async function takeAll(parts: SpoolParts, ended: AbortSignal): Promise<number> {
  const { folder, log } = parts
  const names = namesIn(folder)
  if (names.includes(OVERFLOW)) {
    log('agent.spool_overflow', { folder })
    rmSync(join(folder, OVERFLOW), { force: true })
  }
  const blocked: BlockedFolders = new Map()
  let taken = 0
  for (const name of names.filter((found) => FILE.test(found)).sort()) {
    if (ended.aborted) break
    if (await takeOne(parts, name, blocked)) taken++
  }
  for (const error of new Set(blocked.values())) log('agent.spool_waits', { error })
  return taken
}

/** Folders whose hook file is unusable, with the reason. Their events stay spooled; other folders go on. */
type BlockedFolders = Map<string, string>

async function takeOne(parts: SpoolParts, name: string, blocked: BlockedFolders): Promise<boolean> {
  const { folder, agents, caller, clock, log } = parts
  const path = join(folder, name)
  let folders = ''
  try {
    const { agent, request, options, key } = readSpooled(path, clock.now())
    folders = foldersOf(request.native)
    if (blocked.has(folders)) return false
    await agents.decide(caller, agent, request, { ...options, isLocal: true, key: `spool:${name}:${key}` })
  } catch (thrown) {
    switch (actionFor(thrown)) {
      case 'wait':
        blocked.set(folders, errorText(thrown))
        return false
      case 'set aside':
        log('agent.spool_unreadable', { file: name, error: errorText(thrown) })
        setAside(folder, name)
        return false
      case 'give up':
        throw thrown
    }
  }
  rmSync(path, { force: true })
  return true
}

/** `remove`: an earlier attempt recorded the event and stopped before it removed the file. */
function actionFor(thrown: unknown): 'wait' | 'set aside' | 'give up' | 'remove' {
  if (isFileError(thrown)) return 'set aside'
  // The store is down or busy: the files are still here later.
  if (!isHookError(thrown)) return 'give up'
  if (thrown.code === 'gateway.conflict') return 'remove'
  if (thrown.code.startsWith('config.')) return 'wait'
  return /^input\.|^gateway\.request$/.test(thrown.code) ? 'set aside' : 'give up'
}

function isFileError(thrown: unknown): boolean {
  return thrown instanceof Error && 'syscall' in thrown && 'path' in thrown
}

function setAside(folder: string, name: string): void {
  try {
    renameSync(join(folder, name), join(folder, `bad-${name}`))
  } catch {
    // The file is gone, or the new name is taken: then the file stays, and the next poll logs it again.
  }
}

function foldersOf(native: unknown): string {
  return isRecord(native) ? JSON.stringify([native.cwd, native.workspace_roots]) : ''
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // No agent has spooled anything yet.
    return []
  }
}

function readSpooled(path: string, now: number) {
  const found = lstatSync(path)
  const isOurs = process.getuid === undefined || found.uid === process.getuid()
  if (!found.isFile() || !isOurs || found.size > MAX_BYTES)
    throw unreadable('it is not a regular file of this user')
  const text = readFileSync(path, 'utf8')
  const value = parseJson(text, LIMITS)
  if (!isRecord(value)) throw unreadable('it is not a JSON object')
  const { agent, event, at, why, code, blocked, opened, native } = value
  if (typeof event !== 'string' || typeof at !== 'number') throw unreadable('event or at is missing')
  const isDecided = blocked === true || opened === true
  const past: PastEvent = {
    why: typeof why === 'string' ? why : '',
    code: typeof code === 'string' ? code : undefined,
    blocked: blocked === true,
  }
  return {
    agent: requireAgent(agent),
    request: { event, native: native ?? {} },
    key: createHash('sha256').update(text).digest('base64url').slice(0, 22),
    options: {
      time: at > 0 && at <= now ? at : now,
      ...(isDecided ? { isPast: past } : {}),
    },
  }
}

function unreadable(why: string): HookError {
  return new HookError('input.schema', `a spooled event cannot be read: ${why}`)
}
