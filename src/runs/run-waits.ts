import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { RunEnd, RunRow, RunStatus, RunStore } from './stored/run-tables.ts'

/** Other nodes change runs without telling this one, so a wait also looks by itself. */
const LOOK_MS = 500

/** Lets polls and hooks wait for changes of runs, which this node announces at once. */
export interface RunWaits {
  /** Something changed in a tenant, or in any: a run that can be taken, one to stop, one that ended. */
  announce(tenant: string | undefined): void
  /** Resolves with the next change of the tenant, after a short time, or when the signal is aborted. */
  change(tenant: string, signal: AbortSignal): Promise<void>
  /** Ends every wait, now and from now on. */
  close(): void
  readonly closed: AbortSignal
}

export function createRunWaits(clock: Clock): RunWaits {
  const waiting = new Map<string, Set<() => void>>()
  const closing = new AbortController()

  return {
    announce(tenant) {
      const groups = tenant === undefined ? [...waiting.values()] : [waiting.get(tenant) ?? []]
      for (const group of groups) for (const wake of [...group]) wake()
    },
    change(tenant, signal) {
      if (signal.aborted || closing.signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const group = waiting.get(tenant) ?? new Set()
        waiting.set(tenant, group)
        const wake = () => {
          group.delete(wake)
          if (group.size === 0 && waiting.get(tenant) === group) waiting.delete(tenant)
          callOff()
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const callOff = after(clock, LOOK_MS, wake)
        signal.addEventListener('abort', wake, { once: true })
        group.add(wake)
      })
    },
    close() {
      closing.abort()
      for (const group of [...waiting.values()]) for (const wake of [...group]) wake()
    },
    closed: closing.signal,
  }
}

const ends: readonly RunStatus[] = ['completed', 'failed', 'stopped'] satisfies readonly RunEnd[]

export function hasEnded({ status }: Pick<RunRow, 'status'>): boolean {
  return ends.includes(status)
}

/** The run when it has ended; undefined if the signal was aborted or the node stops before. */
export async function waitForEnd(
  { store, waits }: { readonly store: Pick<RunStore, 'findRun'>; readonly waits: RunWaits },
  { tenant_id, run_id }: Pick<RunRow, 'tenant_id' | 'run_id'>,
  signal: AbortSignal,
): Promise<RunRow | undefined> {
  while (!signal.aborted && !waits.closed.aborted) {
    // Waits from before the look, so that a change in between is not missed.
    const change = waits.change(tenant_id, signal)
    const run = await store.findRun(tenant_id, run_id)
    if (run !== undefined && hasEnded(run)) return run
    await change
  }
  return undefined
}
