import { Button, SegmentedControl, Select } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { useSubscription } from '../../gateway/live.ts'
import { showControls } from '../../parts/format.ts'
import { Empty, Loaded, Page, Panel } from '../../parts/layout.tsx'
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
type RunFilter = Methods['runs.list']['params']

const statuses = [
  ...['pending', 'preparing', 'claimed', 'running', 'stopping'],
  ...['completed', 'failed', 'stopped'],
] as const

/** What the address asks for. An unknown word is left out. */
function filterOf({ hooks, status, agent }: RunSearch): RunFilter {
  const known = statuses.find((name) => name === status)
  return {
    ...(hooks === 'has' ? { has_hooks: true } : {}),
    ...(hooks === 'blocked' ? { hook_blocked: true } : {}),
    ...(known === undefined ? {} : { status: known as NonNullable<RunFilter['status']> }),
    ...(agent === undefined ? {} : { agent_name: agent }),
  }
}

/** Every run of an agent, latest first. */
export function RunsPage() {
  const search = route.useSearch()
  const filter = filterOf(search)
  const isFiltered = Object.keys(filter).length > 0
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
        <Loaded query={query} rows={8}>
          {({ pages }) => {
            const runs = pages.flatMap((page) => page.runs)
            if (runs.length > 0) return runs.map((run) => <RunLink key={run.run_id} run={run} />)
            return isFiltered ? (
              <Empty title="No run passes the filter" action={<Link to="/runs">Show all runs</Link>}>
                New ones appear here by themselves.
              </Empty>
            ) : (
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
          }}
        </Loaded>
      </Panel>
      {query.hasNextPage ? (
        <Button
          variant="default"
          mt="md"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Older runs
        </Button>
      ) : null}
      {isStarting ? <StartRun onClose={() => setStarting(false)} /> : null}
    </Page>
  )
}

/** Active runs change without an event of their own, for example when a runner claims one. */
const ACTIVE_MS = 1_500
const IDLE_MS = 10_000

function useRuns(filter: RunFilter) {
  const queries = useQueryClient()
  const query = useInfiniteQuery({
    queryKey: ['runs', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      call('runs.list', { ...filter, limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ nextCursor }) => (nextCursor === '' ? undefined : nextCursor),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ runs }) => !runs.every(hasEnded)) ? ACTIVE_MS : IDLE_MS,
  })
  const onItem = () => void queries.invalidateQueries({ queryKey: ['runs'] }, { cancelRefetch: false })
  useSubscription('runSessions.tail', { include_init: false }, { onItem })
  return query
}

function RunFilters({ search }: { readonly search: RunSearch }) {
  const navigate = useNavigate()
  const { data } = useQuery({
    queryKey: ['blueprints'],
    queryFn: ({ signal }) => call('blueprints.list', {}, signal),
  })
  const names = new Set((data?.blueprints ?? []).map(({ name }) => name))
  if (search.agent !== undefined) names.add(search.agent)
  const set = (change: Partial<Record<keyof RunSearch, string | undefined>>) => {
    const wanted = Object.entries({ ...search, ...change }).filter(([, value]) => value !== undefined)
    void navigate({ to: '/runs', search: Object.fromEntries(wanted), replace: true })
  }
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
        data={[...statuses]}
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

function RunLink({ run }: { readonly run: RunSummary }) {
  const { run_id, agent_name, created_by, created_at, block_reason, error } = run
  const problem = block_reason ?? error
  return (
    <Link to="/runs/$runId" params={{ runId: run_id }} className={styles.run ?? ''} data-run={run_id}>
      <RunStatus run={run} />
      <span className={styles.what}>
        <span className={styles.name}>
          <b>{showControls(agent_name ?? 'an agent')}</b> <HookBadge run={run} />
        </span>
        <span className={problem === null ? styles.about : styles.problem}>
          {problem === null ? causeOf(run) : showControls(problem.slice(0, 300))}
        </span>
      </span>
      <span className={styles.by}>{showControls(starterOf(created_by))}</span>
      <span className={`${styles.right} tabular`}>{runDuration(run, Date.now())}</span>
      <span className={styles.right}>
        <Age at={created_at} />
      </span>
    </Link>
  )
}
