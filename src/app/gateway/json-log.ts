import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { redact } from '../../safe/secrets/redact.ts'

const MAX_TEXT = 1_024

/** Writes one JSON object per line. Line breaks in fields are escaped, so no field can forge a line. */
export function jsonLog(write: (line: string) => void, clock: Clock): Log {
  return (name, fields) => {
    const level = name.startsWith('security.') || name.endsWith('_failed') ? 'warn' : 'info'
    const redacted = Object.entries(fields).map(([field, value]) => [
      field,
      typeof value === 'string' ? redact(value, MAX_TEXT) : value,
    ])
    const own = { time: clock.now(), level, name }
    // `own` comes first for reading, and last so that no field overrides it.
    write(JSON.stringify({ ...own, ...Object.fromEntries(redacted), ...own }))
  }
}
