/** The process groups that we started and that have not ended. */
const running = new Set<number>()
let listening = false

export function trackGroup(pid: number): void {
  running.add(pid)
  if (listening) return
  listening = true
  // Runs synchronously at the end, also after a SIGTERM handler exits.
  process.on('exit', killAllGroups)
}

export function releaseGroup(pid: number): void {
  running.delete(pid)
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
