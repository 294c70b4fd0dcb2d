import type { Clock } from '../../engine/core/clock.ts'
import type { Log } from '../../engine/core/sink.ts'
import { redact } from '../../safe/redact.ts'

const MAX_TEXT = 1_024

/** One JSON object per line, whatever a field holds: a line break in it cannot begin another line. */
export function jsonLog(write: (line: string) => void, clock: Clock): Log {
  return (name, fields) => {
    const level = name.startsWith('security.') || name.endsWith('_failed') ? 'warn' : 'info'
    const told = Object.entries(fields).map(([field, value]) => [
      field,
      typeof value === 'string' ? redact(value, MAX_TEXT) : value,
    ])
    const own = { time: clock.now(), level, name }
    // Ours stand first and win: no field passes for the name or the level of the line.
    write(JSON.stringify({ ...own, ...Object.fromEntries(told), ...own }))
  }
}
