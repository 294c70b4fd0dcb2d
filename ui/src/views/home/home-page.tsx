import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import { call, chooseTenant } from '../../gateway/call.ts'
import { useSubscription } from '../../gateway/live.ts'
import { Decision, outcomeOf } from '../../parts/decision.tsx'
import type { EventSummary } from '../../parts/filter.ts'
import { agentTitle, formatDuration, plural, showControls } from '../../parts/format.ts'
import { Empty, Loaded, layout, Meter, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { DecisionsChart } from './decisions-chart.tsx'
import styles from './home-page.module.css'
import { SetUp } from './set-up.tsx'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Whether anything is wrong, what was stopped, how much, and which agents work. */
export function HomePage() {
  const { demo } = useCaller()
  const status = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call('status', {}, signal),
    refetchInterval: 10_000,
  })
  const latest = useQuery({
    queryKey: ['events', 'latest'],
    queryFn: ({ signal }) => call('events.list', { limit: 1 }, signal),
  })
  const queries = useQueryClient()
  useSubscription('events.tail', {}, () => {
    for (const part of ['latest', 'stopped', 'decisions'])
      void queries.invalidateQueries({ queryKey: ['events', part] }, { cancelRefetch: false })
  })
  const lastEvent = latest.data?.events[0]
  if (latest.data !== undefined && lastEvent === undefined) return <SetUp />
  return (
    <Page
      title="Home"
      heading={<Headline lines={status.data?.lines} tripped={status.data?.hooks.tripped.length ?? 0} />}
      purpose="What happened in the last hour, and what needs you."
      actions={demo ? <DemoNote /> : undefined}
    >
      <div className={layout.stack}>
        <Loaded query={status} rows={1}>
          {(data) => <Health status={data} lastAt={lastEvent?.created_at} />}
        </Loaded>
        <div className={layout.columns}>
          <div className={layout.stack}>
            <Stopped />
            <Decisions />
          </div>
          <div className={layout.stack}>
            <Agents />
            <HookRates />
          </div>
        </div>
      </div>
    </Page>
  )
}

/** Says that nothing here is real, and removes it. */
function DemoNote() {
  const { master } = useCaller()
  const mayRemove = useMay('admin') && master
  const remove = useMutation({
    mutationFn: () => call('demo.remove', {}),
    onSuccess: ({ defaultTenantId }) => chooseTenant(defaultTenantId),
  })
  return (
    <>
      <span className={styles.muted} role={remove.error === null ? undefined : 'alert'}>
        {remove.error?.message ?? 'This is demo data'}
      </span>
      {mayRemove ? (
        <Button
          variant="default"
          size="compact-xs"
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Remove it
        </Button>
      ) : null}
    </>
  )
}

type StatusLine = { readonly name: string; readonly state: 'ok' | 'warn' | 'bad'; readonly text: string }

interface HeadlineProps {
  readonly lines: readonly StatusLine[] | undefined
  readonly tripped: number
}

function Headline({ lines = [], tripped }: HeadlineProps) {
  if (lines.some(({ state }) => state === 'bad')) return 'Something is wrong'
  if (tripped > 0) return `Guarded, with ${plural(tripped, 'hook')} switched off`
  return lines.some(({ state }) => state === 'warn') ? 'Guarded, with remarks' : 'Your agents are guarded'
}

interface HealthProps {
  readonly status: {
    readonly lines: readonly StatusLine[]
    readonly hooks: {
      readonly total: number
      readonly tripped: readonly unknown[]
      readonly off: readonly unknown[]
    }
    readonly deadDeliveries: { readonly count: number }
  }
  readonly lastAt: number | undefined
}

/** One line when all is well, and otherwise one line for each thing that is not. */
function Health({ status, lastAt }: HealthProps) {
  const { hooks, deadDeliveries } = status
  const wrong = status.lines.filter(({ state }) => state !== 'ok')
  const tripped = hooks.tripped.length
  return (
    <section className={layout.panel} aria-label="Health">
      {wrong.length === 0 && tripped === 0 ? (
        <div className={styles.line}>
          <span className={`${styles.dot} ${styles.ok}`} aria-hidden />
          <span>
            <b>All {plural(hooks.total, 'hook')} answer.</b>{' '}
            <span className={styles.muted}>
              {lastAt === undefined ? null : (
                <>
                  The last event was <Age at={lastAt} /> ago.
                </>
              )}
            </span>
          </span>
        </div>
      ) : null}
      {wrong.map(({ name, state, text }) => (
        <div key={name} className={styles.line}>
          <span className={`${styles.dot} ${styles[state]}`} aria-hidden />
          <span>
            <b>{name}</b> {text}
          </span>
        </div>
      ))}
      {tripped === 0 ? null : (
        <div className={styles.line}>
          <span className={`${styles.dot} ${styles.bad}`} aria-hidden />
          <b>{plural(tripped, 'hook')} switched off by the circuit breaker</b>
          <Link to="/guards">Review</Link>
        </div>
      )}
      {deadDeliveries.count === 0 ? null : (
        <div className={styles.line}>
          <span className={`${styles.dot} ${styles.warn}`} aria-hidden />
          <b>{plural(deadDeliveries.count, 'delivery', 'deliveries')} given up</b>
          <Link to="/guards">Replay</Link>
        </div>
      )}
    </section>
  )
}

function Stopped() {
  const query = useQuery({
    queryKey: ['events', 'stopped'],
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
      title="Stopped"
      aside={
        <Link to="/live" search={{ filter: 'decision:block' }}>
          open in Live
        </Link>
      }
    >
      <Loaded query={query} rows={4}>
        {(events) =>
          events.length === 0 ? (
            <Empty title="Nothing was stopped today">
              Blocked, asked and rewritten calls appear here as sentences.
            </Empty>
          ) : (
            groupAlike(events)
              .slice(0, 6)
              .map(({ event, times }) => <StoppedRow key={event.event_id} event={event} times={times} />)
          )
        }
      </Loaded>
    </Panel>
  )
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
  return (
    <Link to="/events/$eventId" params={{ eventId: event_id }} className={`${layout.row} ${styles.stopped}`}>
      <Decision outcome={outcomeOf(event)} />
      <span className={styles.sentence}>
        <span className={styles.cut}>
          {agentTitle(agent)} {kind === 'allow' ? 'ran' : 'wanted'}{' '}
          <code>{showControls(what ?? event.event)}</code>
          {project === null ? null : (
            <>
              {' in '}
              <b>{project}</b>
            </>
          )}
        </span>
        <span className={`${styles.muted} ${styles.cut}`}>
          {times > 1 ? `${times} times · ` : ''}
          {[hook_name ?? by_hook, reason?.replaceAll(by_hook ?? '\0', hook_name ?? '')]
            .filter(Boolean)
            .join(': ')}
        </span>
      </span>
      <span className={styles.faint}>
        <Age at={created_at} />
      </span>
    </Link>
  )
}

function Decisions() {
  const query = useQuery({
    queryKey: ['events', 'decisions'],
    queryFn: ({ signal }) => {
      const until = Date.now()
      return call('stats.decisions', { since: until - HOUR, until, step: 60_000 }, signal)
    },
    refetchInterval: 15_000,
  })
  const latency = useMemo(() => {
    const buckets = query.data?.buckets ?? []
    const busy = buckets.filter(({ p50_ms }) => p50_ms !== null)
    const last = busy.at(-1)
    return last === undefined
      ? ''
      : `p50 ${formatDuration(last.p50_ms ?? 0)} · p95 ${formatDuration(last.p95_ms ?? 0)}`
  }, [query.data])
  return (
    <Panel title="Decisions per minute" aside={`last hour ${latency === '' ? '' : `· ${latency}`}`}>
      <Loaded query={query} rows={5}>
        {({ buckets }) => <DecisionsChart buckets={buckets} />}
      </Loaded>
    </Panel>
  )
}

/** The agents that send events, latest first. */
function Agents() {
  const query = useQuery({
    queryKey: ['agents', 'connected'],
    queryFn: ({ signal }) => call('capabilities.list', {}, signal),
    refetchInterval: 5_000,
  })
  return (
    <Panel title="Agents" aside={<Link to="/agents">connect another</Link>}>
      <Loaded query={query} rows={3}>
        {({ capabilities }) => {
          const connected = capabilities
            .flatMap(({ last_at, ...agent }) => (last_at === null ? [] : [{ ...agent, last_at }]))
            .sort((left, right) => right.last_at - left.last_at)
          return connected.length === 0 ? (
            <Empty title="No coding agent is connected">Events come from your own programs.</Empty>
          ) : (
            connected.map(({ agent, title, cannot, last_at }) => (
              <Link
                key={agent}
                to="/live"
                search={{ filter: `agent:${agent}` }}
                className={`${layout.row} ${styles.agent}`}
              >
                <b>{title}</b>
                {cannot.length === 0 ? (
                  <Decision outcome="allow">enforced</Decision>
                ) : (
                  <span className={styles.muted}>{plural(cannot.length, 'limit')}</span>
                )}
                <span className={styles.faint}>
                  <Age at={last_at} />
                </span>
              </Link>
            ))
          )
        }}
      </Loaded>
    </Panel>
  )
}

/** How often each hook applied and decided in the last day. */
function HookRates() {
  const query = useQuery({
    queryKey: ['hooks', 'rates'],
    queryFn: async ({ signal }) => {
      const [{ hooks: counted }, { hooks }] = await Promise.all([
        call('stats.hooks', { since: Date.now() - DAY }, signal),
        call('hooks.list', {}, signal),
      ])
      const stored = new Map(hooks.map((hook) => [hook.id, hook]))
      return counted
        .map((hook) => ({
          ...hook,
          name: hook.hook_name ?? stored.get(hook.hook_id)?.name ?? hook.hook_id,
          isShadow: stored.get(hook.hook_id)?.shadow === true,
        }))
        .sort((left, right) => right.matched - left.matched)
        .slice(0, 10)
    },
    refetchInterval: 30_000,
  })
  return (
    <Panel title="Hooks" aside="decided / matched, 24 h">
      <Loaded query={query} rows={4}>
        {(hooks) =>
          hooks.length === 0 ? (
            <Empty title="No hook matched today" action={<Link to="/hooks">Open Hooks</Link>} />
          ) : (
            hooks.map(({ hook_id, name, isShadow, matched, block, ask, rewrite }) => (
              <div key={hook_id} className={`${layout.row} ${styles.rate}`}>
                <span className={styles.cut} title={name}>
                  {isShadow ? <Decision outcome="shadow">{name}</Decision> : name}
                </span>
                <Meter
                  max={matched}
                  value={block + ask + rewrite}
                  label={`${block + ask + rewrite} of ${matched}`}
                  look={isShadow ? 'shadow' : block > 0 ? 'block' : ask > 0 ? 'ask' : 'rewrite'}
                />
                <span>
                  {block + ask + rewrite} / {matched}
                </span>
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}
