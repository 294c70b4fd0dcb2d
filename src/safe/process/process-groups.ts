/** The process groups we started and have not seen end. */
const running = new Set<number>()
let listening = false

export function trackGroup(pid: number): void {
  running.add(pid)
  if (listening) return
  listening = true
  // The last chance, and synchronous: whoever handles SIGTERM ends the process, and then this runs.
  process.on('exit', killAll)
}

export function releaseGroup(pid: number): void {
  running.delete(pid)
}

/** The groups under way, by the id of their first process. */
export function runningGroups(): readonly number[] {
  return [...running]
}

/** Kills every process that is still running because of us. */
export function killAll(): void {
  for (const pid of running) killGroup(pid, 'SIGKILL')
}

export function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}
