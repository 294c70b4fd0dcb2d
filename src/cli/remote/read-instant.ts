import { HookError } from '../../engine/core/errors/error.ts'

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** `2026-08-01`, or with a time, or with a time zone. `Date.parse` also accepts texts that mean something else. */
const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/

/** Reads the time of a flag, in milliseconds since 1970: `30m`, `2h` and `3d` ago, an ISO instant, or the number itself. */
export function readInstant(flag: string, text: string, now: number): number {
  const given = text.trim()
  if (/^\d{11,16}$/.test(given)) return Number(given)
  const [, count, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)\s?([smhdw])$/.exec(given) ?? []
  const ms = unitMs[unit]
  if (ms !== undefined) return Math.round(now - Number(count) * ms)
  // Without a time, a date would be read as UTC, and with one as local time.
  const instant = iso.test(given) ? Date.parse(given.length === 10 ? `${given}T00:00` : given) : Number.NaN
  if (!Number.isNaN(instant)) return instant
  throw new HookError('input.schema', `--${flag} is not a time: ${given.slice(0, 80)}`, {
    at: flag,
    hint: 'Write how long ago (30m, 2h, 3d, 1w) or an instant (2026-08-01, 2026-08-01T12:30, 2026-08-01T12:30:00Z).',
  })
}
