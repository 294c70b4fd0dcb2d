import { Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useSyncExternalStore } from 'react'
import { formatAge, formatDuration, formatInstant, shortenId, showControls } from './format.ts'
import styles from './values.module.css'

/** One clock for every age on the page. */
const tick = {
  now: Date.now(),
  subscribe(listener: () => void) {
    const timer = setInterval(() => {
      tick.now = Date.now()
      listener()
    }, 5_000)
    return () => clearInterval(timer)
  },
}

/** How long ago something was; the exact time on hover. */
export function Age({ at }: { readonly at: number }) {
  const now = useSyncExternalStore(tick.subscribe, () => tick.now)
  return (
    <time dateTime={new Date(at).toISOString()} title={formatInstant(at)}>
      {formatAge(at, Math.max(now, at))}
    </time>
  )
}

export function Duration({ ms }: { readonly ms: number }) {
  return (
    <span className="tabular" title={`${ms} ms`}>
      {formatDuration(ms)}
    </span>
  )
}

/** A shortened id that copies itself as a whole. */
export function Id({ value }: { readonly value: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
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
export function CopyCommand({ text }: { readonly text: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  return (
    <button type="button" className={styles.id} onClick={() => copy(text)} title={`copy: ${text}`}>
      {copied ? 'copied' : text}
    </button>
  )
}

/** Code on one line, cut at the end of the space, whole on hover. */
export function Code({ text }: { readonly text: string }) {
  const shown = showControls(text.slice(0, 2_000))
  return (
    <code className={styles.code} title={shown}>
      {shown}
    </code>
  )
}
