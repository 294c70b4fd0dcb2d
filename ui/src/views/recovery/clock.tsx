import { useSyncExternalStore } from 'react'
import { Meter } from '../../parts/layout.tsx'
import styles from './recovery.module.css'

/** One clock for every countdown of the page. It runs while one is shown. */
const second = {
  now: Date.now(),
  listeners: new Set<() => void>(),
  timer: undefined as ReturnType<typeof setInterval> | undefined,
  subscribe(listener: () => void) {
    second.listeners.add(listener)
    second.timer ??= setInterval(() => {
      second.now = Date.now()
      for (const each of second.listeners) each()
    }, 1_000)
    return () => {
      second.listeners.delete(listener)
      if (second.listeners.size > 0) return
      clearInterval(second.timer)
      second.timer = undefined
    }
  },
}

/** How much of a window is left, renewed every second. `readAt` is when the gateway measured it. */
function useTimeLeft(leftMs: number, readAt: number): number {
  const now = useSyncExternalStore(second.subscribe, () => second.now)
  return Math.max(0, leftMs - Math.max(0, now - readAt))
}

interface WindowClockProps {
  readonly name: string
  readonly leftMs: number
  readonly readAt: number
  readonly windowMs: number
}

/** A window that is running out: while it goes on, nothing fires. */
export function WindowClock({ name, leftMs, readAt, windowMs }: WindowClockProps) {
  const left = useTimeLeft(leftMs, readAt)
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
