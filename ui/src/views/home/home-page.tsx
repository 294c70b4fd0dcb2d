import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useCaller, useMay } from '../../frame/caller.ts'
import { usePendingApprovals } from '../../frame/status.ts'
import { chooseTenant, type Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { TinyButton } from '../../parts/buttons/quiet-button.ts'
import { Decision } from '../../parts/decision.tsx'
import { agentTitle, plural } from '../../parts/format.ts'
import { Empty, Loaded, LoadedList, LoadingRows, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { DecidedMeter, decidedOf, type HookCounts } from '../hooks/hook-counts.tsx'
import { Headline, Health } from './health.tsx'
import styles from './home-page.module.css'
import { AGENTS_MS, useConnectedAgentsQuery } from './home-queries.ts'
import { SetUp, SetUpPanel } from './set-up.tsx'
import { Stopped } from './stopped.tsx'

/** The package that draws loads with the first chart. */
const DecisionsChart = lazy(async () => ({ default: (await import('./decisions-chart.tsx')).DecisionsChart }))

/** Whether anything is wrong, what was stopped, how much, and which agents work. */
export function HomePage() {
  const { demo } = useCaller()
  const status = useMethod('status')
  const latest = useMethod('events.list', { limit: 1 })
  useRefreshOnEvents(['events.list', 'stats.decisions', 'stats.hooks'])
  useRefreshOnEvents(['capabilities.list'], { everyMs: AGENTS_MS })
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
  const remove = useAction('demo.remove', {
    onSuccess: ({ defaultTenantId }) => chooseTenant(defaultTenantId),
  })
  return (
    <>
      <span className="muted" role={remove.error === null ? undefined : 'alert'}>
        {remove.error?.message ?? 'This is demo data'}
      </span>
      {mayRemove ? (
        <TinyButton loading={remove.isPending} onClick={() => remove.mutate({})}>
          Remove it
        </TinyButton>
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
            <span className="cut">
              {agentTitle(agent)} wants <code>{(what ?? tool ?? event).slice(0, 120)}</code>
            </span>
            <span className="cut muted">{reason}</span>
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
  const query = useMethod('stats.decisions')
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
      <LoadedList
        query={query}
        rows={3}
        of={(connected) => connected}
        empty={<Empty title="No coding agent is connected">Events come from your own programs.</Empty>}
      >
        {({ agent, title, cannot, last_at }) => (
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
              <span className="muted" title={cannot.join('\n')}>
                {plural(cannot.length, 'limit')}
              </span>
            )}
            <span className={styles.faint}>
              <Age at={last_at} />
            </span>
          </Link>
        )}
      </LoadedList>
    </Panel>
  )
}

/** How often each hook applied and decided in the last day. */
function HookRates() {
  const counts = useMethod('stats.hooks')
  const list = useMethod('hooks.effective', { everywhere: true })
  return (
    <Panel title="Hooks" aside="decided / matched, 24 h">
      <Loaded query={list} rows={4}>
        {({ hooks }) => (
          <LoadedList
            query={counts}
            rows={4}
            of={(counted) =>
              counted.hooks.toSorted((left, right) => right.matched - left.matched).slice(0, 10)
            }
            empty={<Empty title="No hook matched today" action={<Link to="/hooks">Open Hooks</Link>} />}
          >
            {(counted) => (
              <HookRate
                key={counted.hook_id}
                counted={counted}
                stored={hooks.find(({ id }) => id === counted.hook_id)}
              />
            )}
          </LoadedList>
        )}
      </Loaded>
    </Panel>
  )
}

function HookRate({
  counted,
  stored,
}: Readonly<{ counted: HookCounts; stored: Result<'hooks.effective'>['hooks'][number] | undefined }>) {
  const { hook_id, hook_name, matched } = counted
  const name = hookLabel(stored?.name ?? hook_name, hook_id)
  const isShadow = stored?.shadow === true
  return (
    <div className={`${layout.row} ${styles.rate}`}>
      <span className="cut" title={name}>
        {isShadow ? <Decision outcome="shadow">{name}</Decision> : name}
      </span>
      <DecidedMeter counts={counted} isShadow={isShadow} />
      <span>
        {decidedOf(counted)} / {matched}
      </span>
    </div>
  )
}
