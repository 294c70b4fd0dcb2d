import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type RunHookCall, readRunPhases, refusesRun } from '../../../../../src/runs/run-timeline.ts'
import { useMay } from '../../../frame/caller.ts'
import { call } from '../../../gateway/call.ts'
import { useAction } from '../../../gateway/use-action.ts'
import { keyOf, useMethod } from '../../../gateway/use-method.ts'
import { Confirmed } from '../../../parts/buttons/confirmed.tsx'
import { CopyMenu } from '../../../parts/buttons/copy-menu.tsx'
import { QuietButton } from '../../../parts/buttons/quiet-button.ts'
import { Decision, outcomeOf } from '../../../parts/decision.tsx'
import { shortenId } from '../../../parts/format.ts'
import { Diff, Json, printJson, Text } from '../../../parts/json.tsx'
import { Failed, Loaded, LoadedList, layout, Page, Panel, Tag } from '../../../parts/layout.tsx'
import { Age, Code, Duration, Id } from '../../../parts/values.tsx'
import { RelatedFirings } from '../../recovery/firing-list.tsx'
import {
  type AwaitedApproval,
  HookBadge,
  hasEnded,
  pointName,
  type RunDetail,
  RunStatus,
  runDuration,
  shownStatus,
  starterOf,
} from '../run-status.tsx'
import { StartRun, startCommand } from '../start-run.tsx'
import { resultOf, useRun, useSessionEvents } from './run-events.ts'
import { RunGraph } from './run-graph.tsx'
import { RunLog } from './run-log.tsx'
import styles from './run-page.module.css'
import { RunTimeline } from './run-timeline.tsx'

const route = getRouteApi('/runs/$runId')

/** One run: how it ended and why, what its hooks did, and what it led to. */
export function RunPage() {
  const { runId } = route.useParams()
  const query = useRun(runId)
  return (
    <Loaded query={query} rows={8}>
      {({ run, waits_for }) => <RunView key={run.run_id} run={run} waitsFor={waits_for} />}
    </Loaded>
  )
}

interface RunViewProps {
  readonly run: RunDetail
  readonly waitsFor: readonly AwaitedApproval[]
}

function RunView({ run, waitsFor }: RunViewProps) {
  const { run_id, session_id, agent_name, created_at } = run
  const isLive = !hasEnded(run)
  const query = useSessionEvents(session_id, isLive || run.hooks > 0)
  const events = (query.data?.events ?? []).filter((event) => event.run_id === run_id)
  const phases = readRunPhases(run, events)
  const hooks = phases.flatMap(({ hook }) => (hook === undefined ? [] : [hook]))
  const hookRuns = useHookRuns(session_id, hooks.length)
  return (
    <Page
      title={agent_name ?? run_id}
      heading={
        <Group gap={8}>
          {agent_name ?? run_id} <HookBadge run={run} />
          {run.hook_point === null ? null : <Tag>{`${pointName(run.hook_point)} hook`}</Tag>}
          {run.type === 'resume_session' ? <Tag>resumed session</Tag> : null}
        </Group>
      }
      purpose={<Origin run={run} />}
      actions={<RunActions run={run} />}
    >
      <div className={layout.stack}>
        <Verdict run={run} hooks={hooks} />
        <WaitsForApproval waitsFor={waitsFor} />
        <Result run={run} result={resultOf(events, run_id)} />
        <HookFailures hooks={hooks} hookRuns={hookRuns} />
        <RunTimeline phases={phases} isLive={isLive} hookRuns={hookRuns} />
        <div className={layout.columns}>
          <Parameters run={run} hooks={hooks} />
          <div className={layout.stack}>
            <RunGraph run={run} />
            <RelatedFirings title="Fired by this run" filter={{ run_id }} />
            <RelatedFirings title="What started it" filter={{ started_run_id: run_id }} />
            <HookDecisions sessionId={session_id} isLive={isLive} />
          </div>
        </div>
        <Loaded query={query} rows={4}>
          {() => <RunLog events={events} createdAt={created_at} isLive={isLive} />}
        </Loaded>
      </div>
    </Page>
  )
}

/** Who started the run, and where. */
function Origin({ run }: Readonly<{ run: RunDetail }>) {
  const { run_id, session_id, created_by, created_at, runner_id, parent_run_id } = run
  return (
    <>
      Started by <code>{starterOf(created_by)}</code> · <Age at={created_at} />
      {runner_id === null ? null : (
        <>
          {' · runner '}
          <Id value={runner_id} />
        </>
      )}
      {' · run '}
      <Id value={run_id} /> · session <Id value={session_id} />
      {parent_run_id === null ? null : (
        <>
          {' · parent '}
          <Link to="/runs/$runId" params={{ runId: parent_run_id }}>
            {shortenId(parent_run_id)}
          </Link>
        </>
      )}
    </>
  )
}

/** The runs that hooks of this session started, by their session. */
function useHookRuns(sessionId: string, hooks: number): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: keyOf('runs.list', 'of hooks', sessionId, hooks),
    queryFn: ({ signal }) => call('runs.list', { parent_session_id: sessionId, limit: 200 }, signal),
    enabled: hooks > 0,
    staleTime: 60_000,
  })
  return new Map((data?.runs ?? []).map(({ session_id, run_id }) => [session_id, run_id]))
}

/** The questions that keep the run from going on, and who can answer them. */
function WaitsForApproval({ waitsFor }: Pick<RunViewProps, 'waitsFor'>) {
  if (waitsFor.length === 0) return null
  return (
    <div
      className={`${layout.banner} ${styles.verdict} ${styles.waits}`}
      role="status"
      aria-label="Approvals"
    >
      {waitsFor.map(({ approval_id, event, tool, hook_name, approvers_needed, approved_by }) => (
        <div key={approval_id} className={layout.because}>
          <b>Waits for approval</b> <Link to="/approvals">{approval_id}</Link> by{' '}
          {approvers_needed === 1 ? 'an approver' : `${approvers_needed} approvers`}
          {approved_by.length === 0 ? '' : `, ${approved_by.join(', ')} approved`}
          {' · '}
          {[event, tool].filter(Boolean).join(' ')}
          {hook_name === null ? '' : ` · asked by ${hook_name}`}
        </div>
      ))}
    </div>
  )
}

interface VerdictProps {
  readonly run: RunDetail
  readonly hooks: readonly RunHookCall[]
}

const words = {
  pending: 'Waiting',
  preparing: 'Its hooks run',
  claimed: 'Starting',
  running: 'Running',
  stopping: 'Stopping',
  completed: 'Completed',
  failed: 'Failed',
  blocked: 'Blocked',
  stopped: 'Stopped',
} as const

/** The block reason or the outcome, before everything else. */
function Verdict({ run, hooks }: VerdictProps) {
  const status = shownStatus(run)
  const blocker = hooks.find(refusesRun)
  const changers = startChanges(hooks).map(({ target }) => target)
  return (
    <div
      className={`${layout.banner} ${styles.verdict} ${styles[status] ?? ''}`}
      role="status"
      aria-label="Outcome"
    >
      <RunStatus run={run}>
        <b>{words[status]}</b>
      </RunStatus>
      <span className={layout.because}>
        {status === 'blocked' && blocker !== undefined ? (
          <>
            by <b>{blocker.target}</b> —{' '}
          </>
        ) : null}
        {reasonOf(run).slice(0, 2_000)}
      </span>
      {run.original_parameters === null ? null : (
        <Decision outcome="rewrite">
          parameters changed{changers.length === 0 ? '' : ` by ${changers.join(', ')}`}
        </Decision>
      )}
    </div>
  )
}

function reasonOf(run: RunDetail): string {
  const { status, error, block_reason } = run
  if (block_reason !== null) return block_reason
  if (error !== null) return error
  if (status === 'pending') return `for a runner${describeDemands(run)}`
  if (status === 'preparing') return 'the run starts when they have answered'
  return `${hasEnded(run) ? 'in' : 'for'} ${runDuration(run, Date.now())}`
}

/** ` that offers tags gpu`, from what the run demands. */
function describeDemands({ demands }: RunDetail): string {
  const wanted = Object.entries(demands)
    .map(([name, value]) => [name.replaceAll('_', ' '), [value].flat().join(', ')] as const)
    .filter(([, value]) => value !== '')
  return wanted.length === 0
    ? ''
    : ` that offers ${wanted.map(([name, value]) => `${name} ${value}`).join(' and ')}`
}

function Result({ run, result }: Readonly<{ run: RunDetail; result: unknown }>) {
  if (result === undefined) return null
  return (
    <Panel title="Result" aside={run.completed_at === null ? 'so far' : undefined}>
      {typeof result === 'string' ? <Text text={result} /> : <Json value={result} />}
    </Panel>
  )
}

const consequences: Readonly<Record<string, string>> = {
  block: 'on_error is block: the run or the call was refused, or an ended run was reported',
  continue: 'on_error is continue: it went on without the hook',
}

/** Every hook that failed, with all that is known about it. */
function HookFailures({
  hooks,
  hookRuns,
}: Readonly<{ hooks: readonly RunHookCall[]; hookRuns: ReadonlyMap<string, string> }>) {
  const failed = hooks.filter(({ state }) => state === 'failed')
  if (failed.length === 0) return null
  return (
    <Panel title={failed.length === 1 ? 'A hook failed' : `${failed.length} hooks failed`}>
      {failed.map(({ point, targetType, target, reason, onError, session }, index) => {
        const runId = session === undefined ? undefined : hookRuns.get(session)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same hook may fail twice
          <div key={index} className={`${styles.failure} lined`} data-hook-failure={target}>
            <Decision outcome="failed">{point}</Decision>
            <div>
              <p>{(reason ?? 'no reason given').slice(0, 4_000)}</p>
              <p className="muted">
                {targetType} <b>{target}</b> · {consequences[onError ?? ''] ?? 'unknown policy'}
                {runId === undefined ? null : (
                  <>
                    {' · '}
                    <Link to="/runs/$runId" params={{ runId }}>
                      its run
                    </Link>
                  </>
                )}
              </p>
            </div>
          </div>
        )
      })}
    </Panel>
  )
}

/** The hooks that changed the parameters, in their order. */
function startChanges(hooks: readonly RunHookCall[]): readonly RunHookCall[] {
  return hooks.filter(({ state, point }) => state === 'changed' && point === 'on_run_start')
}

function Parameters({ run: { parameters, original_parameters }, hooks }: VerdictProps) {
  const changers = startChanges(hooks)
  if (parameters === null)
    return (
      <Panel title="Parameters">
        <p className={layout.note}>The key that encrypted them is gone.</p>
      </Panel>
    )
  if (original_parameters === null)
    return (
      <Panel title="Parameters" aside="no hook changed them">
        <Json value={parameters} />
      </Panel>
    )
  return (
    <Panel
      title="Parameters"
      aside={
        changers.length < 2
          ? `original → after ${changers[0]?.target ?? 'the start hooks'}`
          : `changed by ${changers.length} hooks`
      }
    >
      {changers.length < 2 ? (
        <Diff before={original_parameters} after={parameters} />
      ) : (
        changers.map(({ target, change }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same agent may serve two hooks
          <section key={index} aria-label={`Changed by ${target}`} data-changed-by={target}>
            <p className={layout.note}>
              <b>{target}</b> changed {change?.fields.join(', ') ?? ''}
            </p>
            <Diff before={change?.original} after={change?.changed} />
          </section>
        ))
      )}
    </Panel>
  )
}

/** The recorded decisions of the hooks around this session, with their traces. */
function HookDecisions({ sessionId, isLive }: Readonly<{ sessionId: string; isLive: boolean }>) {
  const interval = { refetchInterval: isLive ? 2_000 : 10_000 }
  const query = useMethod('events.list', { session: sessionId, limit: 20 }, interval)
  return (
    <Panel
      title="Decisions of hooks"
      aside={
        <Link to="/live" search={{ filter: `session:${sessionId}` }}>
          in Live
        </Link>
      }
    >
      <LoadedList
        query={query}
        rows={2}
        of={({ events }) => events}
        empty={<p className={layout.note}>No event of this session has passed the hooks yet.</p>}
      >
        {(event) => (
          <Link
            key={event.event_id}
            to="/events/$eventId"
            params={{ eventId: event.event_id }}
            className={`${layout.row} ${styles.decision}`}
            data-event={event.event_id}
          >
            <Decision outcome={outcomeOf(event)} />
            <Code text={[event.tool ?? event.event, event.what].filter(Boolean).join(' ')} />
            <Duration ms={event.duration_ms} />
          </Link>
        )}
      </LoadedList>
    </Panel>
  )
}

function RunActions({ run }: Readonly<{ run: RunDetail }>) {
  const mayStart = useMay('operator')
  const [isStarting, setStarting] = useState(false)
  const stop = useAction('runs.stop')
  const { run_id, agent_name, parameters, original_parameters } = run
  const given = original_parameters ?? parameters
  const start = startCommand(agent_name ?? '', given ?? {})
  return (
    <>
      {mayStart && !hasEnded(run) ? (
        <Confirmed
          isBig
          isBusy={stop.isPending}
          word="Stop"
          sure="Stop it: its process ends"
          onDo={() => stop.mutate({ run_id })}
        />
      ) : null}
      {mayStart && agent_name !== null && given !== null ? (
        <QuietButton onClick={() => setStarting(true)}>Rerun with changes</QuietButton>
      ) : null}
      <CopyMenu
        texts={[
          ['as a command that runs it again', start],
          ['as a command that watches it', `hookhelm runs watch ${run_id}`],
          ['as curl', `curl -H "Authorization: Bearer $HOOKHELM_TOKEN" ${location.origin}/runs/${run_id}`],
          ['the run as JSON', printJson(run)],
          ['the link to this page', location.href],
        ]}
      />
      <Failed error={stop.error} />
      {isStarting && agent_name !== null && given !== null ? (
        <StartRun agent={agent_name} parameters={given} onClose={() => setStarting(false)} />
      ) : null}
    </>
  )
}
