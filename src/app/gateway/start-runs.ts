import { callerWithoutToken } from '../../access/caller.ts'
import { callerWait } from '../../pipeline/caller-wait.ts'
import { createRunProofs } from '../../runs/coding-agents/run-proof.ts'
import { Coordinator } from '../../runs/coordinator.ts'
import type { DispatchRunEvent } from '../../runs/prepare-run.ts'
import { runOutcome } from '../../runs/run-outcome.ts'
import type { Store } from '../../store/store.ts'
import { NO_FOLDER, usesHookFiles } from '../../stored-hooks/snapshots/event-folders.ts'
import type { Snapshots } from '../../stored-hooks/snapshots/snapshots.ts'
import { storeBudget } from './hooks/store-budget.ts'
import type { GatewayContext } from './open-gateway.ts'
import type { HookDispatch } from './start-engine.ts'
import type { GatewayStorage } from './storage/open-storage.ts'

/** The deadline of its question ends the wait of a run. */
const WAIT_MS = 7 * 86_400_000

/** Starts the coordinator of runs, with the hooks of each tenant around its runs. */
export function startRuns(
  { options, edition, clock, log, cleanup }: GatewayContext,
  { store, settings, secrets }: GatewayStorage,
  { snapshots, dispatcher }: HookDispatch,
): Coordinator {
  // A run may execute on another machine, so hook files of folders do not apply to it.
  const folderOf = (tenant: string) => (usesHookFiles(tenant, edition) ? { folder: NO_FOLDER } : {})
  const dispatch: DispatchRunEvent = async (run, request, signal) => {
    const { tenant_id: tenant, session_id: session, run_id, agent_name, depth } = run
    const envelope = {
      ...{ session, run: run_id, depth },
      ...(agent_name === null ? {} : { agent: agent_name }),
      ...(request.event === 'run_finish' ? { outcome: runOutcome(run) } : {}),
    }
    const context = {
      ...folderOf(tenant),
      ...callerWait(WAIT_MS, false),
      ...(signal === undefined ? {} : { signal }),
    }
    const { decision } = await dispatcher.dispatch(
      callerWithoutToken(tenant, 'coordinator'),
      { ...request, envelope },
      context,
    )
    return decision
  }
  const runs = new Coordinator({
    ...{ store, edition, clock, log, dispatch },
    ...(options.runs === undefined ? {} : { times: options.runs }),
    proofs: createRunProofs(secrets),
    budget: storeBudget({ store, settings, log }),
    needsHooks: (tenant) => agentsWithStartHooks(tenant, store, snapshotOf),
    toolCallAgents: async (tenant) => {
      // Without a list of hooks the event itself is blocked.
      const snapshot = await snapshotOf(tenant).catch(() => undefined)
      return [...(snapshot?.rows.values() ?? [])].flatMap(({ source, event, agent_ids }) =>
        source === 'blueprint' && event === 'pre_tool_use' ? agent_ids : [],
      )
    },
    hasHooks: (tenant, event) =>
      snapshotOf(tenant).then(
        ({ hooks }) => hooks.has(event),
        () => true,
      ),
  })
  cleanup.add(() => runs.close())
  return runs

  async function snapshotOf(tenant: string) {
    return snapshots.of(tenant, folderOf(tenant).folder)
  }
}

/** The agents whose runs must be prepared. Without a list of hooks that is every agent, and its gate blocks. */
async function agentsWithStartHooks(
  tenant: string,
  store: Pick<Store, 'listBlueprints'>,
  snapshotOf: (tenant: string) => Promise<Awaited<ReturnType<Snapshots['of']>>>,
): Promise<readonly string[]> {
  const snapshot = await snapshotOf(tenant).catch(() => undefined)
  if (snapshot !== undefined) {
    if (!snapshot.hooks.has('run_start')) return []
    const rows = [...snapshot.rows.values()].filter(({ event }) => event === 'run_start')
    if (snapshot.files().length === 0 && rows.every(({ source }) => source === 'blueprint'))
      return rows.flatMap(({ agent_ids }) => agent_ids)
  }
  return (await store.listBlueprints(tenant)).map(({ name }) => name)
}
