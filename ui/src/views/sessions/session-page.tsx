import { getRouteApi, Link } from '@tanstack/react-router'
import { Fragment, useEffect } from 'react'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { usePages } from '../../gateway/use-pages.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { agentTitle, formatClock, formatCount, formatDuration } from '../../parts/format.ts'
import { Empty, Loaded, Page } from '../../parts/layout.tsx'
import { Age, Code, Duration } from '../../parts/values.tsx'
import styles from './session-page.module.css'

const route = getRouteApi('/sessions/$sessionId')

type Session = Result<'sessions.get'>['session']
type TimelineEvent = Result<'sessions.timeline'>['events'][number]

const PAGE = 200
/** An agent that sent an event so recently still works. */
const WORKING_MS = 300_000
/** A longer session is read in Live. */
const MAX_PAGES = 10

/** One session as a story: prompts are headings, tool calls are rows, sub-agents are indented. */
export function SessionPage() {
  const { sessionId } = route.useParams()
  const session = useMethod('sessions.get', { sessionId })
  const timeline = usePages('sessions.timeline', { sessionId, limit: PAGE })
  const { hasNextPage, isFetchingNextPage, fetchNextPage, data } = timeline
  const pages = data?.pages.length ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && pages < MAX_PAGES) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, pages, fetchNextPage])
  useRefreshOnEvents(['sessions.get', 'sessions.timeline'], { session: sessionId })
  return (
    <Loaded query={session} rows={8}>
      {({ session: row }) => (
        <Page
          title={row.title ?? 'Session'}
          purpose={<Where session={row} />}
          command={`hookhelm sessions timeline ${sessionId}`}
        >
          <Counts session={row} />
          <Loaded query={timeline} rows={10}>
            {({ pages: loaded }) => <Timeline events={loaded.flatMap(({ events }) => events)} />}
          </Loaded>
          {hasNextPage && pages >= MAX_PAGES ? (
            <Link to="/live" search={{ filter: `session:${sessionId}` }}>
              The rest is in Live
            </Link>
          ) : null}
        </Page>
      )}
    </Loaded>
  )
}

function Where({ session }: Readonly<{ session: Session }>) {
  const { agent, project, folder, first_at, last_at, ended } = session
  return (
    <>
      {agentTitle(agent)}
      {project === null ? null : (
        <>
          {' in '}
          <b title={folder ?? ''}>{project}</b>
        </>
      )}
      , started <Age at={first_at} /> ago,{' '}
      {ended ? 'ended' : Date.now() - last_at < WORKING_MS ? 'working now' : 'quiet now'}
    </>
  )
}

function Counts({ session }: Readonly<{ session: Session }>) {
  const { events, tool_calls, blocked, rewritten, asked, sub_agents, hook_ms } = session
  const counts: readonly (readonly [value: string, word: string, look?: string | undefined])[] = [
    [formatCount(events), events === 1 ? 'event' : 'events'],
    [formatCount(tool_calls), tool_calls === 1 ? 'tool call' : 'tool calls'],
    [formatCount(blocked), 'blocked', blocked > 0 ? styles.block : undefined],
    [formatCount(rewritten), 'rewritten', rewritten > 0 ? styles.rewrite : undefined],
    [formatCount(asked), 'asked', asked > 0 ? styles.ask : undefined],
    [formatCount(sub_agents), sub_agents === 1 ? 'sub-agent' : 'sub-agents'],
    [formatDuration(hook_ms), 'spent in hooks'],
  ]
  return (
    <p className={styles.counts}>
      {counts.map(([value, word, look]) => (
        <span key={word}>
          <b className={look}>{value}</b> {word}
        </span>
      ))}
    </p>
  )
}

function Timeline({ events }: Readonly<{ events: readonly TimelineEvent[] }>) {
  if (events.length === 0) return <Empty title="No event of this session is kept any more" />
  return (
    <ol aria-label="Events in their order">
      {foldResults(events).map((event) => (
        <Fragment key={event.event_id}>{renderEvent(event)}</Fragment>
      ))}
    </ol>
  )
}

/** The row of a call stands for its result too, unless a hook did something with the result; a compaction is one rule. */
function foldResults(events: readonly TimelineEvent[]): readonly TimelineEvent[] {
  const started = new Set<string>()
  return events.filter(({ event, kind, code, rewritten, moment: { tool_call } }, index) => {
    if (event === 'pre_compact') return events[index + 1]?.event !== 'post_compact'
    if (tool_call === undefined) return true
    if (event === 'pre_tool_use') started.add(tool_call)
    const isPlain = kind === 'allow' && code === null && !rewritten
    return event !== 'post_tool_use' || !isPlain || !started.has(tool_call)
  })
}

function renderEvent(event: TimelineEvent) {
  if (event.event === 'user_prompt_submit')
    return (
      <li className={styles.prompt}>
        <time className={styles.time}>{formatClock(event.created_at).slice(0, 5)}</time>
        <Link to="/events/$eventId" params={{ eventId: event.event_id }}>
          “{event.argument ?? 'prompt'}”
        </Link>
        {event.kind === 'allow' ? null : (
          <Decision outcome={event.kind}>
            {event.by_hook === null ? event.kind : hookLabel(event.by_hook_name, event.by_hook)}
          </Decision>
        )}
      </li>
    )
  if (/compact/.test(event.event)) return <li className={styles.rule}>context compacted</li>
  return <CallRow event={event} />
}

function CallRow({ event }: Readonly<{ event: TimelineEvent }>) {
  const {
    event_id,
    created_at,
    moment,
    argument,
    reason,
    changes = [],
    by_hook,
    by_hook_name,
    duration_ms,
  } = event
  const outcome: Outcome = event.kind !== 'allow' ? event.kind : event.rewritten ? 'rewrite' : 'allow'
  const look = [styles.call, styles[outcome], moment.lane === undefined ? '' : styles.lane]
  return (
    <li>
      <Link
        to="/events/$eventId"
        params={{ eventId: event_id }}
        className={look.join(' ')}
        title={reason ?? ''}
      >
        <time className={styles.time}>{formatClock(created_at)}</time>
        <span className={styles.dot} aria-hidden />
        <span className={styles.tool}>{moment.tool ?? event.event}</span>
        <span className={styles.argument}>
          <Code text={argument ?? ''} />
          {changes.slice(0, 2).map(({ field, before, after }) => (
            <span key={field} className={`${styles.change} cut`}>
              {field}: {before === '' ? '' : <del>{before.slice(0, 80)}</del>} <ins>{after.slice(0, 80)}</ins>
            </span>
          ))}
        </span>
        <Decision outcome={outcome}>
          <span className={styles.cut}>
            {outcome === 'allow' ? 'allow' : by_hook === null ? outcome : hookLabel(by_hook_name, by_hook)}
          </span>
        </Decision>
        <span className={styles.ms}>
          <Duration ms={duration_ms} />
        </span>
      </Link>
    </li>
  )
}
