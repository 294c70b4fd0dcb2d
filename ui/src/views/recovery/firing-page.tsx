import { Group } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Result } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision } from '../../parts/decision.tsx'
import { shortenId } from '../../parts/format.ts'
import { Json } from '../../parts/json.tsx'
import { Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { Age, Id } from '../../parts/values.tsx'
import { actionTitle, STORED } from '../rules/rule-draft.ts'
import { resultOf, useRun, useSessionEvents } from '../runs/run/run-events.ts'
import { hasEnded, RunStatus, runDuration } from '../runs/run-status.tsx'
import styles from './firing-graph.module.css'
import { ActionStatus, type Firing, type FiringAction } from './firing-list.tsx'

const route = getRouteApi('/recovery/firings/$firingId')

type ShownFiring = Result<'rules.firing'>
type SentMessage = ShownFiring['messages'][number]
type ChannelDelivery = SentMessage['deliveries'][number]

/** One firing as a graph: failure, rule, actions, what they started, and how that ended. */
export function FiringPage() {
  const { firingId } = route.useParams()
  const query = useMethod('rules.firing', { firing_id: firingId })
  return (
    <Loaded query={query} rows={6}>
      {({ firing, messages }) => <FiringView firing={firing} messages={messages} />}
    </Loaded>
  )
}

function FiringView({ firing, messages }: ShownFiring) {
  const { firing_id, rule_id, event, outcome, created_at, depth, actions } = firing
  return (
    <Page
      title={`${rule_id} fired`}
      heading={
        <Group gap={8}>
          {rule_id} fired {depth === 0 ? null : <Tag>{`depth ${depth}`}</Tag>}
        </Group>
      }
      purpose={
        <>
          {event} ended with {outcome} · <Age at={created_at} /> · firing <Id value={firing_id} />
        </>
      }
      command={`hookhelm rules firing ${firing_id}`}
    >
      <div className={layout.stack}>
        <Panel title="Chain" aside="from the failure to its result">
          <div className={styles.scroll}>
            <ul className={styles.graph} aria-label="From the failure to its result">
              <li>
                <FailureNode firing={firing} />
                <ul>
                  <li>
                    <RuleNode firing={firing} />
                    <ul>
                      {actions.map((action) => (
                        <ActionBranch
                          key={action.position}
                          firing={firing}
                          action={action}
                          messages={messages.filter(({ message_id }) =>
                            message_id.startsWith(`rule:${firing_id}:${action.position}:`),
                          )}
                        />
                      ))}
                    </ul>
                  </li>
                </ul>
              </li>
            </ul>
          </div>
        </Panel>
      </div>
    </Page>
  )
}

/** A box of the graph, with the word for what it is. */
function Node({ kind, label, children }: Readonly<{ kind: string; label: string; children: ReactNode }>) {
  return (
    <div className={styles.node} data-node={kind}>
      <span className={styles.kind}>{label}</span>
      {children}
    </div>
  )
}

function FailureNode({ firing }: Readonly<{ firing: Firing }>) {
  const { event_id, event, outcome, run_id } = firing
  return (
    <Node kind="failure" label="failure">
      <Link to="/events/$eventId" params={{ eventId: event_id }} className={styles.main ?? ''}>
        <Decision outcome={outcome === 'success' ? 'allow' : 'failed'}>{event}</Decision>
      </Link>
      <span className={styles.muted}>ended with {outcome}</span>
      {run_id === null ? null : (
        <Link
          to="/runs/$runId"
          params={{ runId: run_id }}
          className={styles.side ?? ''}
          data-link="failed-run"
        >
          the run {shortenId(run_id)}
        </Link>
      )}
    </Node>
  )
}

/** Rule and actions are on the page of the rule. */
function RuleLink({
  firing: { rule_id, source },
  children,
}: Readonly<{ firing: Firing; children: ReactNode }>) {
  return (
    <Link
      to="/recovery/rules/$ruleId"
      params={{ ruleId: rule_id }}
      search={{ source: source === STORED ? undefined : source }}
      className={styles.main ?? ''}
    >
      {children}
    </Link>
  )
}

function RuleNode({ firing }: Readonly<{ firing: Firing }>) {
  const { rule_id, source } = firing
  return (
    <Node kind="rule" label={source === STORED ? 'rule' : 'rule of a file'}>
      <RuleLink firing={firing}>
        <b>{rule_id}</b>
      </RuleLink>
      {source === STORED ? null : (
        <span className={styles.muted} title={source}>
          {source}
        </span>
      )}
    </Node>
  )
}

function ActionBranch({
  firing,
  action,
  messages,
}: Readonly<{ firing: Firing; action: FiringAction; messages: readonly SentMessage[] }>) {
  const { action_id, action_type, status, reason, detail, run_id } = action
  return (
    <li>
      <Node kind="action" label={actionTitle(action_type).toLowerCase()}>
        <RuleLink firing={firing}>
          <ActionStatus status={status}>{action_id}</ActionStatus>
        </RuleLink>
        <span className={styles.muted} title={reason ?? detail ?? undefined}>
          {reason ?? detail ?? status}
        </span>
      </Node>
      {run_id === null && messages.length === 0 ? null : (
        <ul>
          {run_id === null ? null : <RunBranch runId={run_id} />}
          {messages.map((message) => (
            <MessageBranch key={message.message_id} message={message} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** The run that the action started, and what came of it. */
function RunBranch({ runId }: Readonly<{ runId: string }>) {
  const query = useRun(runId)
  const run = query.data?.run
  const isEnded = run !== undefined && hasEnded(run)
  const events = useSessionEvents(run?.session_id, !isEnded)
  if (run === undefined)
    return (
      <li>
        <Node kind="run" label="run">
          <Link to="/runs/$runId" params={{ runId }}>
            {shortenId(runId)}
          </Link>
        </Node>
      </li>
    )
  const result = resultOf(events.data?.events ?? [], runId)
  const problem = run.block_reason ?? run.error
  return (
    <li>
      <Node kind="run" label="run">
        <Link to="/runs/$runId" params={{ runId }} className={styles.main ?? ''}>
          <RunStatus run={run}>{run.agent_name ?? 'an agent'}</RunStatus>
        </Link>
        <span className={styles.muted}>
          {run.status} · {runDuration(run, Date.now())}
        </span>
      </Node>
      {isEnded ? (
        <ul>
          <li>
            <Node kind="result" label={problem === null ? 'result' : 'error'}>
              <Link to="/runs/$runId" params={{ runId }} className={styles.main ?? ''}>
                {problem === null ? 'the result' : problem.slice(0, 200)}
              </Link>
              {problem === null && result !== undefined ? (
                <div className={styles.result}>
                  <Json value={result} />
                </div>
              ) : null}
            </Node>
          </li>
        </ul>
      ) : null}
    </li>
  )
}

function MessageBranch({ message }: Readonly<{ message: SentMessage }>) {
  const { message_id, team, member, summary, read_at, deliveries } = message
  return (
    <li>
      <Node kind="message" label={`mailbox of ${member}`}>
        <Link
          to="/recovery"
          search={{ tab: 'teams', team, message: message_id }}
          className={styles.main ?? ''}
        >
          {summary.slice(0, 120) || 'a message'}
        </Link>
        <span className={styles.muted}>{read_at === null ? 'unread' : 'read'}</span>
      </Node>
      {deliveries.length === 0 ? null : (
        <ul>
          {deliveries.map((delivery, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a member may have two channels of a type
            <li key={index}>
              <DeliveryNode delivery={delivery} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

/** What became of a message on its way to a channel. */
export function deliveryText({ state, attempts, last_error }: ChannelDelivery): string {
  if (state === 'done') return attempts > 1 ? `delivered at attempt ${attempts}` : 'delivered'
  if (state === null) return 'no longer recorded'
  const problem = last_error === null ? '' : `: ${last_error}`
  return state === 'dead' ? `given up after ${attempts}${problem}` : `waits${problem}`
}

function DeliveryNode({ delivery }: Readonly<{ delivery: ChannelDelivery }>) {
  const { type, state } = delivery
  const outcome = state === 'done' ? 'allow' : state === 'dead' ? 'failed' : 'skip'
  const text = deliveryText(delivery)
  return (
    <Node kind="delivery" label="delivery">
      <Link to="/guards" className={styles.main ?? ''}>
        <Decision outcome={outcome}>{type}</Decision>
      </Link>
      <span className={styles.muted} title={text}>
        {text}
      </span>
    </Node>
  )
}
