import { Button, Group, Progress } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { Decision } from '../../parts/decision.tsx'
import { formatCount, formatInstant, plural } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './guards-page.module.css'

const DAY = 86_400_000

/** What limits hooks and models: breakers, the token budget, and deliveries that failed. */
export function GuardsPage() {
  return (
    <Page
      title="Guards"
      purpose="What was switched off, what is running out, and what could not be delivered."
    >
      <div className={layout.stack}>
        <Breakers />
        <Budget />
        <Deliveries />
      </div>
    </Page>
  )
}

function Breakers() {
  const queries = useQueryClient()
  const mayChange = useMay('admin')
  const query = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call('status', {}, signal),
    refetchInterval: 10_000,
  })
  const enable = useMutation({
    mutationFn: (hookId: string) => call('hooks.toggle', { hookId, enabled: true }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['status'] }),
  })
  return (
    <Panel title="Circuit breakers" aside="a hook that fails five times within a minute is switched off">
      {enable.error === null ? null : <Failed error={enable.error} />}
      <Loaded query={query} rows={2}>
        {({ hooks }) =>
          hooks.tripped.length === 0 ? (
            <Empty title="No breaker has tripped" />
          ) : (
            hooks.tripped.map(({ hookId, event, name, reason }) => (
              <div key={hookId} className={`${layout.row} ${styles.breaker}`}>
                <Decision outcome="failed">off</Decision>
                <Link to="/hooks/$hookId" params={{ hookId }} className={styles.cut} title={name ?? hookId}>
                  {name ?? hookId}
                </Link>
                <code>{event}</code>
                <span className={styles.muted}>{reason}</span>
                {mayChange ? (
                  <Button variant="default" size="compact-sm" onClick={() => enable.mutate(hookId)}>
                    Switch on again
                  </Button>
                ) : (
                  <span />
                )}
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}

function Budget() {
  const query = useQuery({
    queryKey: ['budget'],
    queryFn: ({ signal }) => call('budgets.get', {}, signal),
    refetchInterval: 10_000,
  })
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
  const queries = useQueryClient()
  const mayRead = useMay('operator')
  const mayReplay = useMay('admin')
  const query = useQuery({
    queryKey: ['deliveries'],
    queryFn: ({ signal }) => call('deliveries.list', { limit: 100 }, signal),
    refetchInterval: 5_000,
    enabled: mayRead,
  })
  const replay = useMutation({
    mutationFn: (ids: readonly string[] | undefined) =>
      call('deliveries.replay', ids === undefined ? { all: true } : { ids }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  })
  if (!mayRead) return null
  const dead = query.data?.deliveries.filter(({ state }) => state === 'dead').length ?? 0
  return (
    <Panel
      title="Deliveries"
      aside={
        dead > 0 && mayReplay ? (
          <Group gap="xs">
            {plural(dead, 'delivery', 'deliveries')} given up
            <Button variant="default" size="compact-xs" onClick={() => replay.mutate(undefined)}>
              Replay all
            </Button>
          </Group>
        ) : (
          'webhooks that wait, run or were given up'
        )
      }
    >
      {replay.error === null ? null : <Failed error={replay.error} />}
      <Loaded query={query} rows={3}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Empty title="Nothing waits">Every webhook was delivered.</Empty>
          ) : (
            deliveries.map(({ id, kind, state, attempts, due_at, last_error, created_at }) => (
              <div key={id} className={`${layout.row} ${styles.delivery}`}>
                <Decision outcome={state === 'dead' ? 'failed' : 'skip'}>{state}</Decision>
                <span>{kind}</span>
                <span className={styles.muted}>{plural(attempts, 'attempt')}</span>
                <span className={styles.cut} title={last_error ?? ''}>
                  {last_error ?? `due ${formatInstant(due_at)}`}
                </span>
                <span className={styles.muted}>
                  <Age at={created_at} />
                </span>
                {state === 'dead' && mayReplay ? (
                  <Button variant="default" size="compact-xs" onClick={() => replay.mutate([id])}>
                    Replay
                  </Button>
                ) : (
                  <span />
                )}
              </div>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}
