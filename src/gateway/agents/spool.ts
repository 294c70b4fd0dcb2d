import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../engine/core/check.ts'
import type { Clock } from '../../engine/core/clock.ts'
import { errorText, HookError, isHookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import { parseJson } from '../../safe/json.ts'
import type { Caller } from '../auth/caller.ts'
import { type AgentDoor, requireAgent } from './agent-door.ts'

/** What coding agents left on disk while nobody answered them. */
export interface Spool {
  /** Takes up everything that is there; answers how many files it took. */
  take(): Promise<number>
  /** Resolves when the file at hand is done with. */
  stop(): Promise<void>
}

interface SpoolParts {
  readonly folder: string
  readonly agents: AgentDoor
  readonly caller: Caller
  readonly clock: Clock
  readonly log: Log
}

const LOOK_MS = 2_000
const MAX_BYTES = 16 * 1_048_576
const LIMITS = { maxBytes: MAX_BYTES, maxKeys: 200_000, maxDepth: 128 } as const
/** `<milliseconds>-<process>.json`, perhaps with a count behind. */
const FILE = /^\d{1,16}-[\d-]{1,24}\.json$/
const OVERFLOW = 'overflow'

/** Follows the folder. A file is removed when its event is recorded, so that a crash in between loses nothing. */
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
  const look = () => {
    take().catch((thrown) => log('agent.spool_waits', { error: errorText(thrown) }))
  }
  look()
  const ticker = clock.every(LOOK_MS, look)
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
  const closed: Closed = new Map()
  let taken = 0
  for (const name of names.filter((found) => FILE.test(found)).sort()) {
    if (ended.aborted) break
    if (await takeOne(parts, name, closed)) taken++
  }
  for (const error of new Set(closed.values())) log('agent.spool_waits', { error })
  return taken
}

/** Places whose hook file cannot be used, and why. Their events wait for it, and those of others do not wait for them. */
type Closed = Map<string, string>

async function takeOne(parts: SpoolParts, name: string, closed: Closed): Promise<boolean> {
  const { folder, agents, caller, clock, log } = parts
  const path = join(folder, name)
  let place = ''
  try {
    const { agent, request, how, key } = read(path, clock.now())
    place = placeOf(request.native)
    if (closed.has(place)) return false
    await agents.ask(caller, agent, request, { ...how, isLocal: true, key: `spool:${name}:${key}` })
  } catch (thrown) {
    switch (whatToDo(thrown)) {
      case 'wait':
        closed.set(place, errorText(thrown))
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

/** Otherwise it was recorded already, by somebody who could not remove it any more. */
function whatToDo(thrown: unknown): 'wait' | 'set aside' | 'give up' | 'remove' {
  if (isFileError(thrown)) return 'set aside'
  // The store is away or there is too much at once: what is here is still here later.
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
    // It is gone, or its place is taken: then it stays where it is, and nobody waits for it.
  }
}

function placeOf(native: unknown): string {
  return isRecord(native) ? JSON.stringify([native.cwd, native.workspace_roots]) : ''
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Nothing was ever left.
    return []
  }
}

function read(path: string, now: number) {
  const found = lstatSync(path)
  const isOurs = process.getuid === undefined || found.uid === process.getuid()
  if (!found.isFile() || !isOurs || found.size > MAX_BYTES) throw unreadable('it is no file of ours')
  const text = readFileSync(path, 'utf8')
  const value = parseJson(text, LIMITS)
  if (!isRecord(value)) throw unreadable('it holds no object')
  const { agent, event, at, why, blocked, opened, native } = value
  if (typeof event !== 'string' || typeof at !== 'number') throw unreadable('event or at is missing')
  const isDecided = blocked === true || opened === true
  const past = { why: typeof why === 'string' ? why : '', blocked: blocked === true }
  return {
    agent: requireAgent(agent),
    request: { event, native: native ?? {} },
    key: createHash('sha256').update(text).digest('base64url').slice(0, 22),
    how: {
      time: at > 0 && at <= now ? at : now,
      ...(isDecided ? { isPast: past } : {}),
    },
  }
}

function unreadable(why: string): HookError {
  return new HookError('input.schema', `a spooled event cannot be read: ${why}`)
}
