import { useMediaQuery } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { visibleJson } from '../../../src/engine/core/values/visible-text.ts'
import { showControls } from './format.ts'
import styles from './json.module.css'
import { LoadingRows } from './layout.tsx'

const Merge = lazy(async () => ({ default: (await import('./form/code-mirror.tsx')).Merge }))

/** More than this is cut: a page with megabytes of text cannot be read or scrolled. */
const MAX_CHARS = 40_000

export function printJson(value: unknown): string {
  return value === undefined ? '' : visibleJson(value, 2)
}

/** A value as indented JSON. */
export function Json({ value }: Readonly<{ value: unknown }>) {
  return <Text text={printJson(value)} />
}

export function Text({ text }: Readonly<{ text: string }>) {
  const left = text.length - MAX_CHARS
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <pre className={styles.text} tabIndex={0}>
      {text.slice(0, MAX_CHARS)}
      {left > 0 ? <span className={styles.cut}>{`\n… ${left} more characters`}</span> : null}
    </pre>
  )
}

/** Two values side by side, with their differences marked. */
export function Diff({ before, after }: Readonly<{ before: unknown; after: unknown }>) {
  const isNarrow = useMediaQuery('(max-width: 700px)', false, { getInitialValueInEffect: false })
  return (
    <div className={styles.diff}>
      <Suspense fallback={<LoadingRows rows={3} />}>
        <Merge before={cutJson(before)} after={cutJson(after)} isNarrow={isNarrow} />
      </Suspense>
    </div>
  )
}

function cutJson(value: unknown): string {
  const text = printJson(value)
  const left = text.length - MAX_CHARS
  return showControls(left > 0 ? `${text.slice(0, MAX_CHARS)}\n… ${left} more characters` : text)
}
