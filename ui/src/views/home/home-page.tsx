import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import { usePendingApprovals, useStatusQuery } from '../../frame/status.ts'
import { call, chooseTenant } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { Decision } from '../../parts/decision.tsx'
import { agentTitle, plural, showControls } from '../../parts/format.ts'
import { Empty, Loaded, LoadingRows, layout, Meter, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { Headline, Health } from './health.tsx'
import styles from './home-page.module.css'
import { AGENTS_MS, DAY, useConnectedAgentsQuery, useMinutesQuery } from './home-queries.ts'
import { SetUp, SetUpPanel } from './set-up.tsx'
import { Stopped } from './stopped.tsx'

/** The package that draws loads with the first chart. */
const DecisionsChart = lazy(async () => ({ default: (await import('./decisions-chart.tsx')).DecisionsChart }))

/** Whether anything is wrong, what was stopped, how much, and which agents work. */
export function HomePage() {
  const { demo } = useCaller()
  const status = useStatusQuery()
  const latest = useQuery({
    queryKey: ['events', 'latest'],
    queryFn: ({ signal }) => call('events.list', { limit: 1 }, signal),
  })
  useRefreshOnEvents([['events'], ['hooks', 'rates']])
  useRefreshOnEvents([['agents']], { everyMs: AGENTS_MS })
  const lastEvent = latest.data?.events[0]
  if (latest.data !== undefined && lastEvent === undefined) return <SetUp />
  return (
    <Page
      title="Home"
      heading={<Headline status={status.data} />}
      purpose="What your agents did, and what needs you."
      actions={demo ? <DemoNote /> : undefined}
      command="hookhelm status"
    >
      <div className={layout.stack}>
        <Loaded query={status} rows={1}>
          {(data) => <Health status={data} lastAt={lastEvent?.created_at} />}
        </Loaded>
        <SetUpPanel />
        <div className={layout.columns}>
          <div className={layout.stack}>
            <WaitingForYou />
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

/** Calls that wait for a person; nothing if none does. */
function WaitingForYou() {
  const { data } = usePendingApprovals()
  if (data === undefined || data.pending === 0) return null
  return (
    <Panel title="Waiting for you" aside={<Link to="/approvals">answer</Link>}>
      {data.approvals.slice(0, 5).map(({ approval_id, agent, what, tool, event, reason, created_at }) => (
        <Link key={approval_id} to="/approvals" className={`${layout.row} ${styles.stopped}`}>
          <Decision outcome="ask" />
          <span className={styles.sentence}>
            <span className={styles.cut}>
              {agentTitle(agent)} wants <code>{showControls((what ?? tool ?? event).slice(0, 120))}</code>
            </span>
            <span className={`${styles.cut} ${styles.muted}`}>{showControls(reason)}</span>
          </span>
          <span className={styles.faint}>
            <Age at={created_at} />
          </span>
        </Link>
      ))}
    </Panel>
  )
}

function Decisions() {
  const query = useMinutesQuery()
  return (
    <Panel title="Decisions per minute" aside="last hour">
      <Loaded query={query} rows={6}>
        {({ buckets }) => (
          <Suspense fallback={<LoadingRows rows={6} />}>
            <DecisionsChart buckets={buckets} />
          </Suspense>
        )}
      </Loaded>
    </Panel>
  )
}

/** The agents that send events, latest first. */
function Agents() {
  const query = useConnectedAgentsQuery()
  return (
    <Panel title="Agents" aside={<Link to="/agents">connect another</Link>}>
      <Loaded query={query} rows={3}>
        {(connected) =>
          connected.length === 0 ? (
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
                  <span className={styles.muted} title={cannot.join('\n')}>
                    {plural(cannot.length, 'limit')}
                  </span>
                )}
                <span className={styles.faint}>
                  <Age at={last_at} />
                </span>
              </Link>
            ))
          )
        }
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
