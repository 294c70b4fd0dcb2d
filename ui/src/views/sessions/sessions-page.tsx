import { Link } from '@tanstack/react-router'
import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { usePages } from '../../gateway/use-pages.ts'
import { OlderButton } from '../../parts/buttons/older-button.tsx'
import { Decision } from '../../parts/decision.tsx'
import { agentTitle, formatDuration, plural } from '../../parts/format.ts'
import { Empty, LoadedList, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './sessions-page.module.css'

type SessionRow = Result<'sessions.list'>['sessions'][number]

/** What the agents worked on, latest first. */
export function SessionsPage() {
  const query = usePages('sessions.list', { limit: 50 })
  useRefreshOnEvents(['sessions.list'])
  return (
    <Page
      title="Sessions"
      purpose="What the agents worked on, latest first. Open one to read it like a story."
      command="hookhelm sessions list"
    >
      <Panel>
        <LoadedList
          query={query}
          rows={8}
          of={({ pages }) => pages.flatMap(({ sessions }) => sessions)}
          empty={
            <Empty title="No session yet" action={<Link to="/agents">Connect an agent</Link>}>
              A session appears as soon as a connected agent sends its first event.
            </Empty>
          }
        >
          {(session) => <SessionLink key={session.session_id} session={session} />}
        </LoadedList>
      </Panel>
      <OlderButton query={query}>Older sessions</OlderButton>
    </Page>
  )
}

function SessionLink({ session }: Readonly<{ session: SessionRow }>) {
  const { session_id, title, agent, project, blocked, rewritten, asked, tool_calls } = session
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: session_id }}
      className={`${layout.row} ${styles.session}`}
    >
      <span className={styles.what}>
        <b className="cut">{title ?? session_id}</b>
        <span className={`cut ${styles.muted}`}>
          {agentTitle(agent)}
          {project === null ? '' : ` in ${project}`} · {plural(tool_calls, 'tool call')} ·{' '}
          {formatDuration(session.hook_ms)} spent in hooks
        </span>
      </span>
      <span className={styles.marks}>
        {blocked > 0 ? <Decision outcome="block">{blocked}</Decision> : null}
        {asked > 0 ? <Decision outcome="ask">{asked}</Decision> : null}
        {rewritten > 0 ? <Decision outcome="rewrite">{rewritten}</Decision> : null}
      </span>
      <span className={styles.muted}>
        {session.ended ? 'ended ' : ''}
        <Age at={session.last_at} />
      </span>
    </Link>
  )
}
