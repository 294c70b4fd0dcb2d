import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { call } from '../../gateway/call.ts'
import { keyOf } from '../../gateway/use-method.ts'
import { Decision, outcomeOf } from '../../parts/decision.tsx'
import type { EventSummary } from '../../parts/filter/filter.ts'
import { agentTitle, formatCount } from '../../parts/format.ts'
import { Empty, LoadedList, layout, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './home-page.module.css'
import { DAY, useHoursQuery } from './home-queries.ts'

/** The calls of the last day that did not run as the agents asked, as sentences: those that were stopped, and those that a hook changed. */
export function Stopped() {
  const query = useQuery({
    queryKey: keyOf('events.list', 'stopped'),
    queryFn: async ({ signal }) => {
      const since = Date.now() - DAY
      const [blocked, asked, rewritten] = await Promise.all([
        call('events.list', { kind: 'block', since, limit: 30 }, signal),
        call('events.list', { kind: 'ask', since, limit: 4 }, signal),
        call('events.list', { rewritten: true, since, limit: 4 }, signal),
      ])
      return [...blocked.events, ...asked.events, ...rewritten.events].sort(
        (left, right) => right.created_at - left.created_at,
      )
    },
  })
  return (
    <Panel
      title="Stopped or changed"
      aside={
        <>
          <StoppedCount />
          <Link to="/live" search={{ filter: 'decision:block' }} className={layout.inText}>
            open in Live
          </Link>
        </>
      }
    >
      <LoadedList
        query={query}
        rows={4}
        of={(events) => groupAlike(events).slice(0, 6)}
        empty={
          <Empty title="Nothing was stopped or changed today">
            Blocked, asked and rewritten calls appear here as sentences.
          </Empty>
        }
      >
        {({ event, times }) => <StoppedRow key={event.event_id} event={event} times={times} />}
      </LoadedList>
    </Panel>
  )
}

/** Of how many events hooks changed the course. */
function StoppedCount() {
  const buckets = useHoursQuery().data?.buckets ?? []
  const sum = (count: (bucket: (typeof buckets)[number]) => number) =>
    buckets.reduce((total, bucket) => total + count(bucket), 0)
  const stopped = sum(({ block, ask }) => block + ask)
  const changed = sum(({ rewrite }) => rewrite)
  const all = stopped + changed + sum(({ allow }) => allow)
  return all === 0
    ? null
    : `${formatCount(stopped)} stopped, ${formatCount(changed)} changed of ${formatCount(all)} events in 24 h · `
}

interface AlikeEvents {
  /** The newest of them. */
  readonly event: EventSummary
  readonly times: number
}

/** An agent that tries again and again takes one row, not the whole list. */
function groupAlike(events: readonly EventSummary[]): readonly AlikeEvents[] {
  const groups = Map.groupBy(events, ({ kind, agent, project, by_hook, reason }) =>
    JSON.stringify([kind, agent, project, by_hook, reason]),
  )
  return [...groups.values()].flatMap(([event, ...others]) =>
    event === undefined ? [] : [{ event, times: others.length + 1 }],
  )
}

function StoppedRow({ event, times }: AlikeEvents) {
  const { event_id, agent, what, project, hook_name, by_hook, reason, created_at, kind } = event
  const by = by_hook === null ? hook_name : hookLabel(hook_name, by_hook)
  return (
    <Link to="/events/$eventId" params={{ eventId: event_id }} className={`${layout.row} ${styles.stopped}`}>
      <Decision outcome={outcomeOf(event)} />
      <span className={styles.sentence}>
        <span className="cut">
          {agentTitle(agent)} {kind === 'allow' ? 'ran' : 'wanted'} <code>{what ?? event.event}</code>
          {project === null ? null : (
            <>
              {' in '}
              <b>{project}</b>
            </>
          )}
        </span>
        <span className="muted cut">
          {times > 1 ? `${times} times · ` : ''}
          {[by, reason?.replaceAll(by_hook ?? '\0', by ?? '')].filter(Boolean).join(': ')}
        </span>
      </span>
      <span className={styles.faint}>
        <Age at={created_at} />
      </span>
    </Link>
  )
}
