import { Group, Progress } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { SmallButton, TinyButton } from '../../parts/buttons/quiet-button.ts'
import { Decision } from '../../parts/decision.tsx'
import { formatCount, formatDuration, formatInstant, plural, shortenId } from '../../parts/format.ts'
import { Empty, Failed, Loaded, LoadedList, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './guards-page.module.css'

const DAY = 86_400_000

/** What limits hooks and models: breakers, the token budget, and deliveries that failed. */
export function GuardsPage() {
  return (
    <Page
      title="Guards"
      purpose="What was switched off, what is running out, and what could not be delivered."
      command="hookhelm status"
    >
      <div className={layout.stack}>
        <Breakers />
        <Deliveries />
        <Budget />
        <Limits />
      </div>
    </Page>
  )
}

function Breakers() {
  const mayChange = useMay('admin')
  const query = useMethod('status')
  const enable = useAction('hooks.toggle')
  return (
    <Panel title="Circuit breakers" aside="a hook that fails five times within a minute is switched off">
      <Failed error={enable.error} />
      <LoadedList
        query={query}
        rows={2}
        of={({ hooks }) => hooks.tripped}
        empty={<Empty title="No breaker has tripped" />}
      >
        {({ hookId, event, name, reason }) => (
          <div key={hookId} className={`${layout.row} ${styles.breaker}`}>
            <Decision outcome="failed">off</Decision>
            <Link to="/hooks/$hookId" params={{ hookId }} className="cut">
              {hookLabel(name, hookId)}
            </Link>
            <code>{event}</code>
            <span className="muted">{reason}</span>
            {mayChange ? (
              <SmallButton onClick={() => enable.mutate({ hookId, enabled: true })}>
                Switch on again
              </SmallButton>
            ) : (
              <span />
            )}
          </div>
        )}
      </LoadedList>
    </Panel>
  )
}

function Budget() {
  const query = useMethod('budgets.get')
  return (
    <Panel title="Token budget of prompt hooks" aside="this month">
      <Loaded query={query} rows={2}>
        {({ budget }) => {
          const { budget_total, remaining, month_start } = budget
          const spent = budget_total - remaining
          const days = Math.max((Date.now() - month_start) / DAY, 1)
          const perDay = spent / days
          const lasts = perDay === 0 ? undefined : Date.now() + (remaining / perDay) * DAY
          return (
            <div className={styles.budget}>
              <Progress
                value={budget_total === 0 ? 100 : (spent / budget_total) * 100}
                color={remaining < budget_total * 0.2 ? 'red' : 'accent'}
                aria-label={`${spent} of ${budget_total} tokens spent`}
              />
              <p>
                <b>{formatCount(spent)}</b> of {formatCount(budget_total)} tokens spent,{' '}
                {formatCount(Math.round(perDay))} a day.{' '}
                {lasts === undefined
                  ? 'Nothing is used.'
                  : `At this rate it lasts until ${formatInstant(lasts)}.`}
              </p>
            </div>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function Deliveries() {
  const mayRead = useMay('operator')
  const mayReplay = useMay('admin')
  const query = useMethod('deliveries.list', { limit: 100 }, { enabled: mayRead })
  const replay = useAction('deliveries.replay')
  if (!mayRead) return null
  const dead = query.data?.deliveries.filter(({ state }) => state === 'dead').length ?? 0
  return (
    <Panel
      title="Deliveries"
      aside={
        dead > 0 && mayReplay ? (
          <Group gap="xs">
            {plural(dead, 'delivery', 'deliveries')} given up
            <TinyButton onClick={() => replay.mutate({ all: true })}>Replay all</TinyButton>
          </Group>
        ) : (
          'webhooks that wait, run or were given up'
        )
      }
    >
      <Failed error={replay.error} />
      <LoadedList
        query={query}
        rows={3}
        of={({ deliveries }) => deliveries}
        empty={<Empty title="Nothing waits">Every webhook was delivered.</Empty>}
      >
        {({ id, kind, dedup_key, state, attempts, due_at, last_error, created_at }) => (
          <div key={id} className={`${layout.row} ${styles.delivery}`}>
            <Decision outcome={state === 'dead' ? 'failed' : 'skip'}>{state}</Decision>
            <DeliveryCause kind={kind} dedupKey={dedup_key} />
            <span className="muted">{plural(attempts, 'attempt')}</span>
            <span className="cut" title={last_error ?? ''}>
              {last_error ?? `due ${formatInstant(due_at)}`}
            </span>
            <span className="muted">
              <Age at={created_at} />
            </span>
            {state === 'dead' && mayReplay ? (
              <TinyButton onClick={() => replay.mutate({ ids: [id] })}>Replay</TinyButton>
            ) : (
              <span />
            )}
          </div>
        )}
      </LoadedList>
    </Panel>
  )
}

/** A delivery of a hook names its hook and its event. */
function DeliveryCause({ kind, dedupKey }: Readonly<{ kind: string; dedupKey: string }>) {
  const [, eventId = ''] = kind === 'hook' ? dedupKey.split(':') : []
  if (eventId === '') return <span>{kind}</span>
  return (
    <Link to="/events/$eventId" params={{ eventId }} className="cut">
      event {shortenId(eventId)}
    </Link>
  )
}

/** Hooks that fire only so often, and how often that is. */
function Limits() {
  const query = useMethod('hooks.list')
  return (
    <Panel title="Quotas and cooldowns" aside="a hook that is skipped is recorded with the reason">
      <LoadedList
        query={query}
        rows={2}
        of={({ hooks }) => hooks.filter((hook) => describeLimits(hook).length > 0)}
        empty={
          <Empty title="No hook has a limit">
            Set <code>cooldown_ms</code>, <code>dedup_window_ms</code> or{' '}
            <code>max_invocations_per_turn</code>.
          </Empty>
        }
      >
        {({ id, name, event, ...hook }) => (
          <div key={id} className={`${layout.row} ${styles.limit}`}>
            <Link to="/hooks/$hookId" params={{ hookId: id }} search={{ tab: 'history' }} className="cut">
              {name ?? id}
            </Link>
            <code>{event}</code>
            <span className="muted">{describeLimits(hook).join(' · ')}</span>
          </div>
        )}
      </LoadedList>
    </Panel>
  )
}

type Limits = Pick<
  Result<'hooks.list'>['hooks'][number],
  'cooldown_ms' | 'dedup_window_ms' | 'max_invocations_per_turn'
>

function describeLimits({ cooldown_ms, dedup_window_ms, max_invocations_per_turn }: Limits): string[] {
  return [
    cooldown_ms ? `at most once in ${formatDuration(cooldown_ms)}` : '',
    dedup_window_ms ? `the same event once in ${formatDuration(dedup_window_ms)}` : '',
    max_invocations_per_turn ? `at most ${max_invocations_per_turn} times a turn` : '',
  ].filter(Boolean)
}
