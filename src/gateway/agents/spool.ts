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
  stop(): void
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
  let taking: Promise<number> | undefined
  const take = () => {
    taking ??= takeAll(parts).finally(() => {
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
  return { take, stop: () => ticker.stop() }
}

async function takeAll({ folder, agents, caller, clock, log }: SpoolParts): Promise<number> {
  const names = namesIn(folder)
  if (names.includes(OVERFLOW)) {
    log('agent.spool_overflow', { folder })
    rmSync(join(folder, OVERFLOW), { force: true })
  }
  let taken = 0
  for (const name of names.filter((found) => FILE.test(found)).sort()) {
    const path = join(folder, name)
    try {
      const { agent, request, how } = read(path, clock.now())
      await agents.ask(caller, agent, request, { ...how, isLocal: true, key: `spool:${name}` })
      rmSync(path, { force: true })
      taken++
    } catch (thrown) {
      // The store is away or there is too much at once: what is here is still here later.
      if (!isHookError(thrown) || !/^input\.|^gateway\.request$/.test(thrown.code)) throw thrown
      log('agent.spool_unreadable', { file: name, error: errorText(thrown) })
      renameSync(path, join(folder, `bad-${name}`))
    }
  }
  return taken
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
  const value = parseJson(readFileSync(path, 'utf8'), LIMITS)
  if (!isRecord(value)) throw unreadable('it holds no object')
  const { agent, event, at, why, blocked, opened, native } = value
  if (typeof event !== 'string' || typeof at !== 'number') throw unreadable('event or at is missing')
  const isDecided = blocked === true || opened === true
  const past = { why: typeof why === 'string' ? why : '', blocked: blocked === true }
  return {
    agent: requireAgent(agent),
    request: { event, native: native ?? {} },
    how: {
      time: at > 0 && at <= now ? at : now,
      ...(isDecided ? { isPast: past } : {}),
    },
  }
}

function unreadable(why: string): HookError {
  return new HookError('input.schema', `a spooled event cannot be read: ${why}`)
}
