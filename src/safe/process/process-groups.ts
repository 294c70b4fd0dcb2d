/** The process groups that we started and that have not ended. */
const running = new Set<number>()
/** Learns about the groups, and kills them if this process is killed and cannot do it itself. */
export interface GroupGuard {
  guard(pid: number): void
  release(pid: number): void
}

const guards = new Set<GroupGuard>()
let listening = false

/** Reports every group to the guard, also those that run already. Returns its undo. */
export function addGroupGuard(guard: GroupGuard): () => void {
  guards.add(guard)
  for (const pid of running) guard.guard(pid)
  return () => guards.delete(guard)
}

/** `by` is the guard that started the group and knows it already. */
export function trackGroup(pid: number, by?: GroupGuard): void {
  running.add(pid)
  for (const guard of guards) if (guard !== by) guard.guard(pid)
  if (listening) return
  listening = true
  // Runs synchronously at the end, also after a SIGTERM handler exits.
  process.on('exit', killAllGroups)
}

export function releaseGroup(pid: number, by?: GroupGuard): void {
  running.delete(pid)
  for (const guard of guards) if (guard !== by) guard.release(pid)
}

/** The running groups, by the id of their first process. */
export function runningGroups(): readonly number[] {
  return [...running]
}

/** Kills every group that is still running. */
export function killAllGroups(): void {
  for (const pid of running) killGroup(pid, 'SIGKILL')
}

export function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended.
  }
}
