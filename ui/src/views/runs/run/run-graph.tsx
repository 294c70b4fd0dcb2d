import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../../gateway/call.ts'
import { keyOf } from '../../../gateway/use-method.ts'
import { Loaded, Panel } from '../../../parts/layout.tsx'
import { hasEnded, pointName, RunStatus, type RunSummary, runDuration, starterOf } from '../run-status.tsx'
import styles from './run-graph.module.css'

interface Family {
  readonly run: RunSummary
  readonly children: readonly Family[]
}

const MAX_DEPTH = 12
const MAX_CHILDREN = 50

/** The runs that led to this one, and the runs that it led to. */
export function RunGraph({ run }: Readonly<{ run: RunSummary }>) {
  const query = useQuery({
    queryKey: keyOf('runs.list', 'family', run.run_id),
    queryFn: ({ signal }) => loadFamily(run, signal),
    refetchInterval: ({ state }) => (state.data !== undefined && isSettled(state.data) ? 10_000 : 2_000),
  })
  return (
    <Panel title="Chain" aside="parents and children">
      <Loaded query={query} rows={2}>
        {(family) => (
          <ul className={styles.chain} aria-label="Runs from parent to child">
            <Branch family={family} current={run.run_id} />
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

function isSettled({ run, children }: Family): boolean {
  return hasEnded(run) && children.every(isSettled)
}

function Branch({
  family: { run, children },
  current,
  isChild = false,
}: Readonly<{ family: Family; current: string; isChild?: boolean }>) {
  const { run_id, agent_name, error, block_reason } = run
  const isCurrent = run_id === current
  const problem = block_reason ?? error
  return (
    <li>
      {isChild ? <div className={`${styles.edge} muted small`}>{edgeOf(run)}</div> : null}
      <Link
        to="/runs/$runId"
        params={{ runId: run_id }}
        className={`${styles.node} ${isCurrent ? styles.current : ''}`}
        aria-current={isCurrent ? 'page' : undefined}
        data-node={run_id}
      >
        <RunStatus run={run}>{agent_name ?? 'an agent'}</RunStatus>
        <span className={`${styles.state} muted small cut`} title={problem ?? undefined}>
          {isCurrent ? 'this run' : problem === null ? runDuration(run, Date.now()) : problem}
        </span>
      </Link>
      {children.length === 0 ? null : (
        <ul>
          {children.map((child) => (
            <Branch key={child.run.run_id} family={child} current={current} isChild />
          ))}
        </ul>
      )}
    </li>
  )
}

/** Why the child run was started. */
function edgeOf({ hook_point, type, parent_run_id, created_by, origin, execution_mode }: RunSummary): string {
  if (hook_point !== null) return `${pointName(hook_point)}, decides`
  if (type === 'resume_session') return `resumed by ${starterOf(created_by)}`
  if (origin === 'rule' || origin === 'retry') return `${starterOf(created_by)} fired`
  if (parent_run_id !== null) return 'a hook, fire and forget'
  return execution_mode === 'async_callback' ? 'child, calls back' : 'child'
}

async function loadFamily(run: RunSummary, signal: AbortSignal): Promise<Family> {
  return loadBranch(await findRoot(run, signal), 0, signal)
}

async function findRoot(run: RunSummary, signal: AbortSignal): Promise<RunSummary> {
  let root = run
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = await findParent(root, signal)
    if (parent === undefined) return root
    root = parent
  }
  return root
}

/** A session's first run stands for the session: later runs of it are its children. */
async function findParent(run: RunSummary, signal: AbortSignal): Promise<RunSummary | undefined> {
  const session_id = run.type === 'resume_session' ? run.session_id : run.parent_session_id
  if (session_id === null) return undefined
  const { runs } = await call('runs.list', { session_id, limit: MAX_CHILDREN }, signal)
  const first = runs.at(-1)
  return first?.run_id === run.run_id ? undefined : first
}

async function loadBranch(run: RunSummary, depth: number, signal: AbortSignal): Promise<Family> {
  if (depth >= MAX_DEPTH || run.type === 'resume_session') return { run, children: [] }
  const { session_id } = run
  const [children, same] = await Promise.all([
    call('runs.list', { parent_session_id: session_id, limit: MAX_CHILDREN }, signal),
    call('runs.list', { session_id, limit: MAX_CHILDREN }, signal),
  ])
  const resumed = same.runs.filter(({ run_id }) => run_id !== run.run_id)
  const own = children.runs.filter(({ session_id: child }) => child !== session_id)
  const sorted = [...own, ...resumed].sort((left, right) => left.created_at - right.created_at)
  return {
    run,
    children: await Promise.all(sorted.map((child) => loadBranch(child, depth + 1, signal))),
  }
}
