import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Methods } from '../../../../src/client/index.ts'
import { call } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { Decision } from '../../parts/decision.tsx'
import { agentTitle, formatDuration, plural, showControls } from '../../parts/format.ts'
import { Empty, Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './sessions-page.module.css'

type SessionRow = Methods['sessions.list']['result']['sessions'][number]

/** What the agents worked on, latest first. */
export function SessionsPage() {
  const query = useInfiniteQuery({
    queryKey: ['sessions'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call('sessions.list', { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ nextCursor }) => (nextCursor === '' ? undefined : nextCursor),
  })
  useRefreshOnEvents([['sessions']])
  return (
    <Page
      title="Sessions"
      purpose="What the agents worked on, latest first. Open one to read it like a story."
      command="hookhelm sessions list"
    >
      <Panel>
        <Loaded query={query} rows={8}>
          {({ pages }) => {
            const sessions = pages.flatMap((page) => page.sessions)
            return sessions.length === 0 ? (
              <Empty title="No session yet" action={<Link to="/agents">Connect an agent</Link>}>
                A session appears as soon as a connected agent sends its first event.
              </Empty>
            ) : (
              sessions.map((session) => <SessionLink key={session.session_id} session={session} />)
            )
          }}
        </Loaded>
      </Panel>
      {query.hasNextPage ? (
        <Button
          variant="default"
          mt="md"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Older sessions
        </Button>
      ) : null}
    </Page>
  )
}

function SessionLink({ session }: { readonly session: SessionRow }) {
  const {
    session_id,
    title,
    agent,
    project,
    blocked,
    rewritten,
    asked,
    tool_calls,
    hook_ms,
    last_at,
    ended,
  } = session
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: session_id }}
      className={`${layout.row} ${styles.session}`}
    >
      <span className={styles.what}>
        <b className={styles.cut}>{showControls(title ?? session_id)}</b>
        <span className={`${styles.cut} ${styles.muted}`}>
          {agentTitle(agent)}
          {project === null ? '' : ` in ${project}`} · {plural(tool_calls, 'tool call')} ·{' '}
          {formatDuration(hook_ms)} spent in hooks
        </span>
      </span>
      <span className={styles.marks}>
        {blocked > 0 ? <Decision outcome="block">{blocked}</Decision> : null}
        {asked > 0 ? <Decision outcome="ask">{asked}</Decision> : null}
        {rewritten > 0 ? <Decision outcome="rewrite">{rewritten}</Decision> : null}
      </span>
      <span className={styles.muted}>
        {ended ? 'ended ' : ''}
        <Age at={last_at} />
      </span>
    </Link>
  )
}
