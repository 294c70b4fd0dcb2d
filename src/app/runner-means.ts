import type { Client } from '../client/client.ts'
import { findConnections } from '../connect/find-connections.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { systemClock } from '../engine/core/time/clock.ts'
import { createModels, type Models } from '../handlers/model/models.ts'
import { dataFolder } from '../hook-files/hook-folders.ts'
import type { RunnerMeans } from '../runs/runner/execute-run.ts'
import { createOutbound } from '../safe/outbound/outbound.ts'
import { localModels, outboundAllowed } from './environment.ts'

/** A hook of a tool call may start an agent. The gateway ends it after ten minutes at the latest. */
const DECISION_MS = 630_000
/** People may take as long as the gateway lets them: the deadline of the question ends the wait. */
const WAIT_MS = 7 * 86_400_000

interface RunnerMeansParts extends Pick<RunnerMeans, 'cwd' | 'folders' | 'profile'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly client: Pick<Client, 'dispatch'>
  readonly log: Log
  /** The models of the environment if omitted. */
  readonly models?: Models
}

/** What a runner lends to its runs: the models of its environment, the hooks of its gateway, and where agents are connected. */
export function createRunnerMeans({ env, client, log, ...rest }: RunnerMeansParts): {
  means: RunnerMeans
  dispose(): Promise<void>
} {
  const outbound = createOutbound({ allow: outboundAllowed(env), log })
  const means: RunnerMeans = {
    models: createModels({ ...localModels(env), fetch: outbound.fetch }),
    ...rest,
    decisions: {
      waitMs: WAIT_MS,
      client: {
        dispatch: (event, options) => client.dispatch(event, { timeoutMs: DECISION_MS, ...options }),
      },
    },
    isConnected(agent, project, own) {
      const paths = { env: own, project, system: '/' }
      const { connected } = findConnections(paths, dataFolder(env), [agent])
      return connected.some(({ unreadable }) => unreadable === undefined)
    },
    clock: systemClock,
    log,
  }
  return { means, dispose: () => outbound.dispose() }
}
