import { LRUCache } from 'lru-cache'
import { after } from '../engine/core/after.ts'
import type { Clock } from '../engine/core/clock.ts'
import type { RunRow, RunStore } from '../store/stores/run-store.ts'
import { type CreateRunParts, requireBlueprint } from './create-run.ts'
import type { RunWaits } from './run-waits.ts'

export interface CodingAgentRunParts extends Pick<CreateRunParts, 'edition'> {
  readonly store: CreateRunParts['store'] & Pick<RunStore, 'findRunOfExecutor' | 'listRuns'>
  readonly waits: RunWaits
  readonly clock: Clock
  /** The agents whose blueprints have `on_tool_call` hooks. */
  toolCallAgents(tenant: string): Promise<readonly string[]>
}

/** The run that a coding agent works for, by the agent's own id of its session; undefined for sessions of people. */
export type FindCodingAgentRun = (
  tenant: string,
  agent: string,
  session: string,
) => Promise<RunRow | undefined>

/** A coding agent tells its session id in its first line, and asks a model before its first tool call. */
const REPORT_WITHIN_MS = 5_000
const LOOK_MS = 50
const MAX_SESSIONS = 10_000
const PAGE = 200

/**
 * Finds the runs of coding agents. The runner reports the session id that an agent chose, and a tool call may be faster: while a
 * run of this coding agent has not reported its session, an unknown session waits.
 */
export function createCodingAgentRuns(parts: CodingAgentRunParts): FindCodingAgentRun {
  const { store, waits, clock, toolCallAgents } = parts
  const ofPeople = new LRUCache<string, true>({ max: MAX_SESSIONS })

  return async (tenant, agent, session) => {
    const names = await toolCallAgents(tenant)
    const key = `${tenant} ${agent} ${session}`
    if (names.length === 0 || ofPeople.has(key)) return undefined
    const end = clock.elapsed() + REPORT_WITHIN_MS
    for (;;) {
      const run = await store.findRunOfExecutor(tenant, session)
      if (run !== undefined) return run
      if (!(await hasUnreported(parts, tenant, { names, agent }))) {
        // The report may have come between the two looks.
        const late = await store.findRunOfExecutor(tenant, session)
        if (late === undefined) ofPeople.set(key, true)
        return late
      }
      if (clock.elapsed() >= end || waits.closed.aborted) return undefined
      await new Promise<void>((resolve) => after(clock, LOOK_MS, resolve))
    }
  }
}

/** Whether a run of this coding agent has started and not yet reported the session of the agent. */
async function hasUnreported(
  parts: CodingAgentRunParts,
  tenant: string,
  { names, agent }: { readonly names: readonly string[]; readonly agent: string },
): Promise<boolean> {
  for (const status of ['claimed', 'running'] as const) {
    const { rows } = await parts.store.listRuns(tenant, { status }, { limit: PAGE })
    for (const { session_id, agent_name } of rows) {
      if (agent_name === null || !names.includes(agent_name)) continue
      const session = await parts.store.findRunSession(tenant, session_id)
      if (session?.executor_session_id !== null) continue
      const { executor } = await requireBlueprint(parts, tenant, agent_name)
      // What a runner starts by its own settings is known to the runner only.
      if (executor === undefined || executor.profile !== undefined || executor.agent === agent) return true
    }
  }
  return false
}
