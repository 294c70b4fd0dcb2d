import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Store } from '../../src/store/store.ts'

/** The interval of heartbeats, and the longest normal write. Anything longer is the machine's delay. */
const BEAT_MS = 2
const USUAL_MS = 5

/** A clock that all processes of the machine share. */
export const machineNow = (): number => Number(process.hrtime.bigint()) / 1e6

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Writes heartbeats and the times of store writes to a file, which survives a kill. A limit of milliseconds applies to the
 * gateway only while the machine runs it and its disk is not busy.
 */
export function markTime(file: string): { around(store: Store): Store } {
  const marks = openSync(file, 'w')
  const mark = (kind: string, more = '') => writeSync(marks, `${kind} ${machineNow()} ${more}\n`)
  const beat = () => {
    const { user, system } = process.threadCpuUsage()
    mark('beat', String((user + system) / 1_000))
  }
  setInterval(beat, BEAT_MS).unref()
  process.once('exit', () => closeSync(marks))
  return {
    around: (store) => ({
      ...store,
      async recordEvents(...group) {
        mark('write')
        try {
          await store.recordEvents(...group)
        } finally {
          mark('done')
        }
      },
    }),
  }
}

/** The time in which the machine did not run the gateway's thread, or its disk was slow. */
export interface Withheld {
  readonly byScheduler: (since: number) => number
  readonly byBoth: (since: number) => number
}

export function withheld(file: string, killedAt: number): Withheld {
  const missed = missedBeats(file, killedAt)
  return {
    byScheduler: coveredBy(missed),
    byBoth: coveredBy([...missed, ...slowWrites(file, killedAt)]),
  }
}

function coveredBy(given: readonly Span[]): (since: number) => number {
  const spans = given.toSorted((a, b) => a.from - b.from)
  return (since) => {
    let total = 0
    let covered = since
    for (const { from, to } of spans) {
      const start = Math.max(from, covered)
      if (to <= start) continue
      total += to - start
      covered = to
    }
    return total
  }
}

/** Between two heartbeats the thread either worked, which counts as its own time, or did not run. */
function missedBeats(file: string, killedAt: number): Span[] {
  const beats = marksOf(file, 'beat')
  const last = beats.at(-1)
  const ended = last === undefined ? [] : [{ at: killedAt, value: last.value }]
  return [...beats, ...ended].flatMap(({ at, value }, index, all) => {
    const before = all[index - 1]
    if (before === undefined) return []
    const idle = at - before.at - (value - before.value) - BEAT_MS
    return idle > USUAL_MS ? [{ from: at - idle, to: at }] : []
  })
}

function slowWrites(file: string, killedAt: number): Span[] {
  const done = marksOf(file, 'done')
  return marksOf(file, 'write').flatMap(({ at }, index) => {
    const to = done[index]?.at ?? killedAt
    return to - at > USUAL_MS ? [{ from: at + USUAL_MS, to }] : []
  })
}

function marksOf(file: string, wanted: string): { at: number; value: number }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [kind, at, value] = line.split(' ')
      return kind === wanted ? [{ at: Number(at), value: Number(value) }] : []
    })
}
