import { Tooltip } from '@mantine/core'
import { useCallback, useSyncExternalStore } from 'react'
import { chosenTenant } from '../gateway/call.ts'
import { useCopy } from './buttons/use-copy.ts'
import { formatAge, formatDuration, formatInstant, shortenId } from './format.ts'
import styles from './values.module.css'

/** When the current interval began: everything that shares an interval shows the same time. */
export function useNow(everyMs = 5_000): number {
  const subscribe = useCallback(
    (listener: () => void) => {
      const timer = setInterval(listener, everyMs)
      return () => clearInterval(timer)
    },
    [everyMs],
  )
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / everyMs) * everyMs)
}

/** How long ago something was; the exact time on hover. */
export function Age({ at }: Readonly<{ at: number }>) {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={formatInstant(at)}>
      {formatAge(at, Math.max(now, at))}
    </time>
  )
}

export function Duration({ ms }: Readonly<{ ms: number }>) {
  return (
    <span className="tabular" title={`${ms} ms`}>
      {formatDuration(ms)}
    </span>
  )
}

/** A shortened id that copies itself as a whole. */
export function Id({ value }: Readonly<{ value: string }>) {
  const { copy, copied } = useCopy()
  return (
    <Tooltip label={copied ? 'copied' : value} openDelay={300}>
      <button
        type="button"
        className={styles.id}
        onClick={() => copy(value)}
        aria-label={`${shortenId(value)}: copy the whole id`}
      >
        {shortenId(value)}
      </button>
    </Tooltip>
  )
}

/** What the view shows, as a command; a click copies it. */
export function CopyCommand({ text }: Readonly<{ text: string }>) {
  const { copy, copied } = useCopy()
  const tenant = chosenTenant()
  const command = tenant === undefined ? text : `${text} --tenant ${tenant}`
  return (
    <button
      type="button"
      className={`${styles.id} ${styles.command}`}
      onClick={() => copy(command)}
      title={`copy: ${command}`}
    >
      {copied ? 'copied' : text}
    </button>
  )
}

/** Code on one line, cut at the end of the space, whole on hover. */
export function Code({ text }: Readonly<{ text: string }>) {
  const shown = text.slice(0, 2_000)
  return (
    <code className={`${styles.code} cut`} title={shown}>
      {shown}
    </code>
  )
}
