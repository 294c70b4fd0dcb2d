import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { TinyButton } from '../../parts/buttons/quiet-button.ts'
import { useCopy } from '../../parts/buttons/use-copy.ts'
import { Decision } from '../../parts/decision.tsx'
import { Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Age } from '../../parts/values.tsx'
import { Blueprints } from '../blueprints/blueprints.tsx'
import styles from './agents-page.module.css'

type Capability = Result<'capabilities.list'>['capabilities'][number]
type Report = Result<'reports.list'>['reports'][number]

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
      <PageTabs
        chosen={tab}
        onChoose={(name) =>
          void navigate({ to: '/agents', search: { tab: name === 'coding' ? undefined : name } })
        }
        tabs={[
          { name: 'coding', title: 'Coding agents', content: <CodingAgents /> },
          { name: 'blueprints', title: 'Blueprints', content: <Blueprints /> },
        ]}
      />
    </Page>
  )
}

/** Every coding agent: whether it sends events, what can be enforced there, and what doctor found. */
function CodingAgents() {
  const agents = useMethod('capabilities.list')
  const doctor = useMethod('reports.list')
  useRefreshOnEvents(['capabilities.list', 'reports.list'], { everyMs: 5_000 })
  return (
    <Loaded query={doctor} rows={7}>
      {({ reports }) => (
        <Loaded query={agents} rows={7}>
          {({ capabilities }) => (
            <div className={layout.stack}>
              {capabilities
                .toSorted((left, right) => (right.last_at ?? 0) - (left.last_at ?? 0))
                .map((each) => (
                  <Agent
                    key={each.agent}
                    {...each}
                    report={reports.find(({ agent }) => agent === each.agent)}
                  />
                ))}
            </div>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

type AgentProps = Capability & { readonly report: Report | undefined }

function Agent({ agent, title, can, cannot, last_at, report }: AgentProps) {
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

function DoctorReport({ agent, report }: Readonly<{ agent: string; report: Report | undefined }>) {
  if (report === undefined)
    return (
      <p className="muted">
        Doctor has not looked at it yet: <code>hookhelm doctor {agent}</code>
      </p>
    )
  const wrong = report.checks.filter(({ state }) => state !== 'ok')
  return (
    <div>
      <Decision outcome={report.ok ? 'allow' : 'failed'}>
        {report.ok ? 'doctor found nothing wrong' : 'doctor found problems'}
      </Decision>{' '}
      <span className="muted">
        <Age at={report.reported_at} />
      </span>
      {wrong.map(({ state, text, hint }) => (
        <p key={text} className={styles.check}>
          <Decision outcome={state === 'bad' ? 'failed' : 'opened'}>{text}</Decision>
          {hint === undefined ? null : <span className="muted">{hint}</span>}
        </p>
      ))}
    </div>
  )
}

function Command({ text }: Readonly<{ text: string }>) {
  const { copy, copied } = useCopy()
  return (
    <p className={styles.command}>
      <code>{text}</code>
      <TinyButton onClick={() => copy(text)} aria-label={`Copy ${text}`}>
        {copied ? 'Copied' : 'Copy'}
      </TinyButton>
    </p>
  )
}
