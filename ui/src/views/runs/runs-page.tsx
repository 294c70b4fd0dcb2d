import { Button, SegmentedControl, Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { runStatuses } from '../../../../src/runs/stored/run-tables.ts'
import { useMay } from '../../frame/caller.ts'
import type { Params } from '../../gateway/call.ts'
import { useSubscription } from '../../gateway/live.ts'
import { keyOf, useMethod } from '../../gateway/use-method.ts'
import { usePages } from '../../gateway/use-pages.ts'
import { OlderButton } from '../../parts/buttons/older-button.tsx'
import { Empty, LoadedList, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age, CopyCommand } from '../../parts/values.tsx'
import {
  causeOf,
  HookBadge,
  hasEnded,
  RunStatus,
  type RunSummary,
  runDuration,
  starterOf,
} from './run-status.tsx'
import styles from './runs-page.module.css'
import { StartRun } from './start-run.tsx'

const route = getRouteApi('/runs')

type RunSearch = ReturnType<typeof route.useSearch>
type RunFilter = Params<'runs.list'>

/** What the address asks for. An unknown word is left out. */
function filterOf({ hooks, status, agent }: RunSearch): RunFilter {
  return {
    has_hooks: hooks === 'has' || undefined,
    hook_blocked: hooks === 'blocked' || undefined,
    status: runStatuses.find((name) => name === status),
    agent_name: agent,
  }
}

/** Every run of an agent, latest first. */
export function RunsPage() {
  const search = route.useSearch()
  const filter = filterOf(search)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const mayStart = useMay('operator')
  const [isStarting, setStarting] = useState(false)
  const query = useRuns(filter)
  return (
    <Page
      title="Runs"
      purpose="Agents that Hookhelm started: what their hooks decided, and how each run ended."
      command="hookhelm runs list"
      actions={
        mayStart ? (
          <Button size="xs" onClick={() => setStarting(true)}>
            Start a run
          </Button>
        ) : null
      }
    >
      <RunFilters search={search} />
      <Panel>
        <LoadedList
          query={query}
          rows={8}
          of={({ pages }) => pages.flatMap(({ runs }) => runs)}
          empty={isFiltered ? <NothingPasses /> : <NoRun />}
        >
          {(run) => <RunLink key={run.run_id} run={run} />}
        </LoadedList>
      </Panel>
      <OlderButton query={query}>Older runs</OlderButton>
      {isStarting ? <StartRun onClose={() => setStarting(false)} /> : null}
    </Page>
  )
}

function NothingPasses() {
  return (
    <Empty title="No run passes the filter" action={<Link to="/runs">Show all runs</Link>}>
      New ones appear here by themselves.
    </Empty>
  )
}

function NoRun() {
  return (
    <Empty
      title="No run yet"
      action={
        <Link to="/agents" search={{ tab: 'blueprints' }}>
          Describe an agent
        </Link>
      }
    >
      A run executes an agent with parameters: start one here, or with{' '}
      <CopyCommand text="hookhelm runs start --agent-name my-agent" />.
    </Empty>
  )
}

/** Active runs change without an event of their own, for example when a runner claims one. */
const ACTIVE_MS = 1_500
const IDLE_MS = 10_000

function useRuns(filter: RunFilter) {
  const queries = useQueryClient()
  const query = usePages(
    'runs.list',
    { ...filter, limit: 50 },
    {
      refetchInterval: ({ state }) =>
        state.data?.pages.some(({ runs }) => !runs.every(hasEnded)) ? ACTIVE_MS : IDLE_MS,
    },
  )
  const onItem = () => void queries.invalidateQueries({ queryKey: keyOf('runs') }, { cancelRefetch: false })
  useSubscription('runSessions.tail', { include_init: false }, { onItem })
  return query
}

function RunFilters({ search }: Readonly<{ search: RunSearch }>) {
  const navigate = useNavigate()
  const { data } = useMethod('blueprints.list')
  const names = new Set((data?.blueprints ?? []).map(({ name }) => name))
  if (search.agent !== undefined) names.add(search.agent)
  const set = (change: RunSearch) =>
    void navigate({ to: '/runs', search: { ...search, ...change }, replace: true })
  return (
    <div className={styles.filters}>
      <SegmentedControl
        size="xs"
        aria-label="Hooks"
        data={[
          { value: 'all', label: 'All runs' },
          { value: 'has', label: 'Has hooks' },
          { value: 'blocked', label: 'Hook blocked' },
        ]}
        value={search.hooks === 'has' || search.hooks === 'blocked' ? search.hooks : 'all'}
        onChange={(value) => set({ hooks: value === 'all' ? undefined : value })}
      />
      <Select
        size="xs"
        aria-label="Status"
        placeholder="any status"
        data={runStatuses}
        value={search.status ?? null}
        onChange={(value) => set({ status: value ?? undefined })}
        clearable
      />
      <Select
        size="xs"
        aria-label="Agent"
        placeholder="any agent"
        data={[...names]}
        value={search.agent ?? null}
        onChange={(value) => set({ agent: value ?? undefined })}
        searchable
        clearable
      />
    </div>
  )
}

function RunLink({ run }: Readonly<{ run: RunSummary }>) {
  const { run_id, agent_name, created_by, created_at, block_reason, error } = run
  const problem = block_reason ?? error
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run_id }}
      className={`${layout.row} ${styles.run}`}
      data-run={run_id}
    >
      <RunStatus run={run} />
      <span className={styles.what}>
        <span className={styles.name}>
          <b className="cut">{agent_name ?? 'an agent'}</b> <HookBadge run={run} />
        </span>
        <span className={`${problem === null ? 'muted' : styles.problem} small cut`}>
          {problem === null ? causeOf(run) : problem.slice(0, 300)}
        </span>
      </span>
      <span className="muted small cut">{starterOf(created_by)}</span>
      <span className={`${styles.right} tabular`}>{runDuration(run, Date.now())}</span>
      <span className={styles.right}>
        <Age at={created_at} />
      </span>
    </Link>
  )
}
