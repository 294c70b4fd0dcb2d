import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../engine/core/time/clock.ts'

interface Count {
  failures: number
  since: number
}

/** Counts invalid tokens and logins per source and blocks a source after too many. */
export interface FailureLimit {
  /** Returns the milliseconds until the source may try again; 0 if it may try now. */
  wait(source: string): number
  count(source: string): void
}

const WINDOW_MS = 60_000
/** Bounded memory: an attacker with many addresses evicts only the counts of other attackers. */
const MAX_SOURCES = 10_000

export function createFailureLimit(clock: Clock, maxFailures = 20): FailureLimit {
  const counts = new LRUCache<string, Count>({ max: MAX_SOURCES })
  const current = (source: string): Count | undefined => {
    const count = counts.get(source)
    return count !== undefined && clock.elapsed() - count.since < WINDOW_MS ? count : undefined
  }
  return {
    wait(source) {
      const count = current(source)
      if (count === undefined || count.failures < maxFailures) return 0
      return Math.ceil(count.since + WINDOW_MS - clock.elapsed())
    },
    count(source) {
      const count = current(source)
      if (count === undefined) counts.set(source, { failures: 1, since: clock.elapsed() })
      else count.failures += 1
    },
  }
}

/** The source of a connection: an IPv4 address, or the /64 network that one IPv6 customer has. */
export function sourceNetwork(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined || !ipaddr.isValid(remoteAddress)) return 'unknown'
  const address = ipaddr.process(remoteAddress)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, 8)).toString('hex')}/64`
}
