import { Button, Tabs } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Methods } from '../../../../src/client/index.ts'
import { call } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { Decision } from '../../parts/decision.tsx'
import { Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import { Blueprints } from '../blueprints/blueprints.tsx'
import styles from './agents-page.module.css'

type Capability = Methods['capabilities.list']['result']['capabilities'][number]
type Report = Methods['reports.list']['result']['reports'][number]

const route = getRouteApi('/agents')

/** Coding agents that send events, and agents that Hookhelm itself starts. */
export function AgentsPage() {
  const { tab = 'coding' } = route.useSearch()
  const navigate = useNavigate()
  return (
    <Page
      title="Agents"
      purpose={
        tab === 'blueprints'
          ? 'Agents that Hookhelm starts: what they take, what they return, and the hooks around their runs.'
          : 'Which agents send events, what hooks can do there, and what doctor found last.'
      }
      command={tab === 'blueprints' ? 'hookhelm blueprints list' : 'hookhelm capabilities list'}
    >
      <Tabs
        value={tab}
        onChange={(chosen) =>
          void navigate({ to: '/agents', search: chosen === 'blueprints' ? { tab: chosen } : {} })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="coding">Coding agents</Tabs.Tab>
          <Tabs.Tab value="blueprints">Blueprints</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="coding">
          <CodingAgents />
        </Tabs.Panel>
        <Tabs.Panel value="blueprints">
          <Blueprints />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

/** Every coding agent: whether it sends events, what can be enforced there, and what doctor found. */
function CodingAgents() {
  const query = useQuery({
    queryKey: ['agents'],
    queryFn: async ({ signal }) => {
      const [{ capabilities }, { reports }] = await Promise.all([
        call('capabilities.list', {}, signal),
        call('reports.list', {}, signal),
      ])
      const byAgent = new Map(reports.map((report) => [report.agent, report]))
      return capabilities
        .map((capability) => ({ capability, report: byAgent.get(capability.agent) }))
        .sort((left, right) => (right.capability.last_at ?? 0) - (left.capability.last_at ?? 0))
    },
  })
  useRefreshOnEvents([['agents']], { everyMs: 5_000 })
  return (
    <Loaded query={query} rows={7}>
      {(agents) => (
        <div className={layout.stack}>
          {agents.map(({ capability, report }) => (
            <Agent key={capability.agent} capability={capability} report={report} />
          ))}
        </div>
      )}
    </Loaded>
  )
}

interface AgentProps {
  readonly capability: Capability
  readonly report: Report | undefined
}

function Agent({ capability, report }: AgentProps) {
  const { agent, title, can, cannot, last_at } = capability
  return (
    <Panel
      title={title}
      aside={
        last_at === null ? (
          'no event yet'
        ) : (
          <Link to="/live" search={{ filter: `agent:${agent}` }}>
            last event <Age at={last_at} />
          </Link>
        )
      }
    >
      <div className={styles.agent}>
        <ul aria-label={`What can be enforced with ${title}`}>
          {can.map((line) => (
            <li key={line}>
              <Decision outcome="allow">{line}</Decision>
            </li>
          ))}
          {cannot.map((line) => (
            <li key={line}>
              <Decision outcome="skip">{`not possible here: ${line}`}</Decision>
            </li>
          ))}
        </ul>
        <div>
          {last_at === null ? <Command text={`hookhelm connect ${agent}`} /> : null}
          <DoctorReport agent={agent} report={report} />
        </div>
      </div>
    </Panel>
  )
}

function DoctorReport({ agent, report }: { readonly agent: string; readonly report: Report | undefined }) {
  if (report === undefined)
    return (
      <p className={styles.muted}>
        Doctor has not looked at it yet: <code>hookhelm doctor {agent}</code>
      </p>
    )
  const wrong = report.checks.filter(({ state }) => state !== 'ok')
  return (
    <div>
      <Decision outcome={report.ok ? 'allow' : 'failed'}>
        {report.ok ? 'doctor found nothing wrong' : 'doctor found problems'}
      </Decision>{' '}
      <span className={styles.muted}>
        <Age at={report.reported_at} />
      </span>
      {wrong.map(({ state, text, hint }) => (
        <p key={text} className={styles.check}>
          <Decision outcome={state === 'bad' ? 'failed' : 'opened'}>{text}</Decision>
          {hint === undefined ? null : <span className={styles.muted}>{hint}</span>}
        </p>
      ))}
    </div>
  )
}

function Command({ text }: { readonly text: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  return (
    <p className={styles.command}>
      <code>{text}</code>
      <Button variant="default" size="compact-xs" onClick={() => copy(text)} aria-label={`Copy ${text}`}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </p>
  )
}
