import { Meter } from '../../parts/layout.tsx'
import { useNow } from '../../parts/values.tsx'
import styles from '../recovery/recovery.module.css'

/** A window that is running out: while it goes on, nothing fires. `readAt` is when the gateway measured it. */
export function WindowClock({
  name,
  leftMs,
  readAt,
  windowMs,
}: Readonly<{ name: string; leftMs: number; readAt: number; windowMs: number }>) {
  const left = Math.max(0, leftMs - Math.max(0, useNow(1_000) - readAt))
  return (
    <span className={styles.clock} data-clock={name} data-running={left > 0}>
      <span>
        {name} <b className="tabular">{left > 0 ? clockText(left) : windowMs === 0 ? 'none' : 'ready'}</b>
      </span>
      <Meter value={left} max={windowMs} label={`${name}: ${clockText(left)} left`} />
    </span>
  )
}

/** `41 s`, `2:05 min`, `1:10 h`. */
function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const [big, small, unit] = seconds < 3_600 ? [60, 1, 'min'] : [3_600, 60, 'h']
  return `${Math.floor(seconds / big)}:${String(Math.floor((seconds % big) / small)).padStart(2, '0')} ${unit}`
}
