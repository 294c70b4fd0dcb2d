import { readFileSync } from 'node:fs'

/** Whether the process still runs. One that ended counts as ended before its parent has asked for its exit code. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (thrown) {
    // It belongs to another user.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM')) return false
  }
  return !/^[ZX]/.test(stateOf(pid))
}

/** Only Linux shows it in a file. */
function stateOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2)
  } catch {
    return ''
  }
}
