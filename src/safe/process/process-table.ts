import { readFileSync } from 'node:fs'

/** The shells through which agents start their hooks. */
const SHELLS = /^(?:(?:ba|da|z|k|fi|tc|c)?sh|busybox|env)$/
const MAX_SHELLS = 8

interface ProcessStat {
  readonly name: string
  readonly state: string
  readonly parent: number
  /** When it began. With the id it names a process for ever: the system gives ids anew. */
  readonly started: string
}

/**
 * Names the process that the client of `pid` works for: the client itself if it is a program that stays, otherwise the first
 * process above it that is no shell. Undefined where the system does not show it in files, and for a client in another
 * container, whose id means nothing here.
 */
export function agentProcess(pid: number, isHookClient: boolean): string | undefined {
  const client = statOf(pid)
  if (client === undefined) return undefined
  if (!isHookClient) return nameOf(pid, client)
  let id = client.parent
  for (let shells = 0; shells <= MAX_SHELLS; shells++) {
    const above = statOf(id)
    if (above === undefined) return undefined
    if (!SHELLS.test(above.name)) return nameOf(id, above)
    id = above.parent
  }
  return undefined
}

function nameOf(pid: number, { started }: ProcessStat): string {
  return `${pid}/${started}`
}

/** Only Linux shows it in a file. */
function statOf(pid: number): ProcessStat | undefined {
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses, and may hold any character.
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    return {
      name: stat.slice(stat.indexOf('(') + 1, end),
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      started: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}

/** Whether the process still runs. One that ended counts as ended before its parent has asked for its exit code. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (thrown) {
    // It belongs to another user.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM')) return false
  }
  return !/^[ZX]/.test(statOf(pid)?.state ?? '')
}
