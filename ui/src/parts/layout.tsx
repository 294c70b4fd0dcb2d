import { Skeleton } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { GatewayError } from '../gateway/call.ts'
import { QuietButton } from './buttons/quiet-button.ts'
import styles from './layout.module.css'
import { CopyCommand } from './values.tsx'

export { styles as layout }

interface PageProps {
  readonly title: string
  /** What stands at the top instead of the plain title. */
  readonly heading?: ReactNode
  /** One sentence: what one can do here. */
  readonly purpose?: ReactNode
  readonly actions?: ReactNode
  /** The command that shows the same. */
  readonly command?: string
  readonly wide?: boolean
  readonly children: ReactNode
}

/** One page with one purpose. */
export function Page({ title, heading, purpose, actions, command, wide = false, children }: PageProps) {
  useEffect(() => {
    const before = document.title
    document.title = `${title} · Hookhelm`
    // A page in a drawer gives the title back.
    return () => {
      document.title = before
    }
  }, [title])
  return (
    <div className={wide ? `${styles.page} ${styles.wide}` : styles.page}>
      <div className={styles.title}>
        <h1>{heading ?? title}</h1>
        {actions === undefined && command === undefined ? null : (
          <div className={styles.actions}>
            {actions}
            {command === undefined ? null : <CopyCommand text={command} />}
          </div>
        )}
      </div>
      <p className={styles.purpose}>{purpose}</p>
      {children}
    </div>
  )
}

export function Panel({
  title,
  aside,
  children,
}: Readonly<{ title?: ReactNode; aside?: ReactNode; children: ReactNode }>) {
  return (
    <section className={styles.panel}>
      {title === undefined ? null : (
        <div className={styles.head}>
          <h2>{title}</h2>
          {aside === undefined ? null : <div className={`${styles.aside} cut`}>{aside}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** An empty view teaches what belongs here, with one action. */
export function Empty({
  title,
  children,
  action,
}: Readonly<{ title: string; children?: ReactNode; action?: ReactNode }>) {
  return (
    <div className={styles.state}>
      <h3>{title}</h3>
      {children === undefined ? null : <p>{children}</p>}
      {action}
    </div>
  )
}

/** Rows in their final height, so that nothing jumps when the data arrives. */
export function LoadingRows({ rows = 5 }: Readonly<{ rows?: number }>) {
  return (
    <div role="status" aria-busy="true" aria-label="loading">
      {Array.from({ length: rows }, (_, index) => index).map((index) => (
        <div key={index} className={styles.row}>
          <Skeleton height={12} width={`${70 - ((index * 13) % 40)}%`} />
        </div>
      ))}
    </div>
  )
}

interface QueryState<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  refetch(): unknown
}

interface LoadedProps<Data> {
  readonly query: QueryState<Data>
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

/** Shows the data of a query, or that it loads, or why it failed. Data stays when a later request fails. */
export function Loaded<Data>({ query, rows = 5, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null) return <Failed error={query.error} onRetry={() => query.refetch()} />
  return <LoadingRows rows={rows} />
}

interface LoadedListProps<Data, Row> {
  readonly query: QueryState<Data>
  readonly rows?: number
  /** The list in the data. */
  readonly of: (data: Data) => readonly Row[]
  /** What stands there if the list is empty. */
  readonly empty: ReactNode
  readonly children: (row: Row) => ReactNode
}

/** Shows each row of a list that a query loads. */
export function LoadedList<Data, Row>({ query, rows = 5, of, empty, children }: LoadedListProps<Data, Row>) {
  return (
    <Loaded query={query} rows={rows}>
      {(data) => (of(data).length === 0 ? empty : of(data).map(children))}
    </Loaded>
  )
}

interface FailedProps {
  readonly error: Error | null | undefined
  readonly onRetry?: () => void
  /** Names the field that the gateway objects to. */
  readonly isPlaceShown?: boolean
}

/** What happened, what to do, and a way to try again. Nothing without an error. */
export function Failed({ error, onRetry, isPlaceShown = false }: FailedProps) {
  if (error === null || error === undefined) return null
  const { at, hint }: Partial<GatewayError> = error instanceof GatewayError ? error : {}
  return (
    <div className={`${styles.state} ${styles.failed}`} role="alert">
      <h3>{isPlaceShown && at !== undefined ? `${at}: ${error.message}` : error.message}</h3>
      {hint === undefined ? null : <p>{hint}</p>}
      {onRetry === undefined ? null : <QuietButton onClick={onRetry}>Try again</QuietButton>}
    </div>
  )
}

interface MeterProps {
  readonly value: number
  readonly max: number
  readonly label: string
  readonly look?: 'block' | 'ask' | 'rewrite' | 'shadow' | 'accent'
}

/** A thin bar: how much of the whole. */
export function Meter({ value, max, label, look = 'accent' }: MeterProps) {
  return (
    <meter
      className={styles.meter}
      style={{ color: `var(--${look})` }}
      min={0}
      max={Math.max(max, 1)}
      value={value}
      aria-label={label}
    />
  )
}

export function Tag({ children }: Readonly<{ children: ReactNode }>) {
  return <span className={styles.tag}>{children}</span>
}
