import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { formatInstant } from '../../parts/format.ts'
import { Empty, Loaded, layout, Panel } from '../../parts/layout.tsx'
import { CopyCommand, Duration } from '../../parts/values.tsx'
import styles from './hook-history.module.css'

const outcomes: Readonly<Record<string, Outcome>> = {
  allow: 'allow',
  ask: 'ask',
  block: 'block',
  error: 'failed',
  timeout: 'failed',
  skipped: 'skip',
  late: 'skip',
  aborted: 'skip',
}

/** Every execution of a hook, newest first. */
export function HookHistory({ hookId }: { readonly hookId: string }) {
  const query = useInfiniteQuery({
    queryKey: ['hooks', 'history', hookId],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call(
        'hooks.history',
        { hookId, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ),
    getNextPageParam: ({ nextCursor }) => (nextCursor === '' ? undefined : nextCursor),
  })
  useRefreshOnEvents([['hooks', 'history', hookId]])
  return (
    <Panel title="Executions" aside={<CopyCommand text={`hookhelm hooks history --hook-id ${hookId}`} />}>
      <Loaded query={query} rows={8}>
        {({ pages }) => {
          const rows = pages.flatMap(({ executions }) => executions)
          return rows.length === 0 ? (
            <Empty title="It did not run yet" />
          ) : (
            rows.map((row) => (
              <Link
                key={row.id}
                to="/events/$eventId"
                params={{ eventId: row.event_id }}
                className={`${layout.row} ${styles.execution}`}
              >
                <span className={styles.muted}>{formatInstant(row.created_at)}</span>
                <Decision outcome={row.shadow ? 'shadow' : (outcomes[row.decision] ?? 'skip')}>
                  {row.shadow ? `would ${row.decision}` : row.decision}
                </Decision>
                <span className={styles.cut}>{[row.code, row.error].filter(Boolean).join(' · ')}</span>
                <span className={styles.muted}>
                  <Duration ms={row.duration_ms} />
                </span>
              </Link>
            ))
          )
        }}
      </Loaded>
      {query.hasNextPage ? (
        <Button
          variant="subtle"
          fullWidth
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Older executions
        </Button>
      ) : null}
    </Panel>
  )
}
