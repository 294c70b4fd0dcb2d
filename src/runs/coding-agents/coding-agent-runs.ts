import { LRUCache } from 'lru-cache'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { after } from '../../engine/core/time/after.ts'
import { requireBlueprint } from '../create-run.ts'
import type { RunParts } from '../run-parts.ts'
import type { RunRow, RunStatus } from '../stored/run-tables.ts'
import type { RunProofs } from './run-proof.ts'

interface CodingAgentRunParts extends Pick<RunParts, 'store' | 'edition' | 'waits' | 'clock'> {
  readonly proofs: RunProofs
  /** The agents whose blueprints have `on_tool_call` hooks. */
  toolCallAgents(tenant: string): Promise<readonly string[]>
}

/** A tool call of a coding agent. */
export interface CodingAgentCall {
  readonly tenant: string
  readonly agent: string
  /** The agent's own id of its session. */
  readonly session: string | undefined
  /** What the hook client found in its environment; see `RunProofs`. */
  readonly proof: string | undefined
  /** How long the caller waits for its answer, in milliseconds. */
  readonly withinMs: number | undefined
  readonly signal: AbortSignal | undefined
}

/** The runs that coding agents work for, where the `on_tool_call` hooks of their blueprints must see the calls. */
export interface CodingAgentRuns {
  /** What the agent of this run needs to prove it; undefined if no hook must see its calls. */
  proofFor(run: RunRow): Promise<string | undefined>
  /** The run of a call; undefined for calls of people. Rejects if that cannot be told. */
  find(call: CodingAgentCall): Promise<Pick<RunRow, 'run_id' | 'agent_name' | 'depth'> | undefined>
}

/** The client gives up after 55 s by default. */
const MAX_WAIT_MS = 50_000
const MAX_KNOWN = 10_000
const PAGE = 200

/**
 * A call that carries the proof of its run is known at once. Agents whose hooks are HTTP requests, or that start their hooks
 * without our variable, are known by the session that the runner reports. A call may be faster than that report: while a run
 * of the same coding agent has neither reported its session nor shown its proof, a call of an unknown session waits.
 */
export function createCodingAgentRuns(parts: CodingAgentRunParts): CodingAgentRuns {
  const { store, proofs, toolCallAgents } = parts
  const ofPeople = new LRUCache<string, true>({ max: MAX_KNOWN })
  /** Runs whose calls are told apart from those of people. */
  const known = new LRUCache<string, RunRow>({ max: MAX_KNOWN })

  async function proven(tenant: string, proof: string): Promise<RunRow> {
    const id = proofs.read(tenant, proof)
    const run = known.get(id) ?? (await store.findRun(tenant, id))
    if (run === undefined) throw serverError('runs.unknown_run', `there is no run ${id}`)
    known.set(id, run)
    return run
  }

  return {
    async proofFor({ tenant_id: tenant, run_id, agent_name }) {
      const names = await toolCallAgents(tenant)
      return names.includes(agent_name ?? '') ? proofs.of(tenant, run_id) : undefined
    },
    async find(call) {
      const { tenant, agent, session, proof } = call
      if (proof !== undefined) return proven(tenant, proof)
      const names = await toolCallAgents(tenant)
      const key = `${tenant} ${agent} ${session}`
      if (session === undefined || names.length === 0 || ofPeople.has(key)) return undefined
      const isUnknown = async (run: RunRow) => {
        if (!names.includes(run.agent_name ?? '') || known.has(run.run_id)) return false
        const found = await store.findRunSession(tenant, run.session_id)
        if (found?.executor_session_id != null) known.set(run.run_id, run)
        return found?.executor_session_id === null && startsAgent(parts, run, agent)
      }
      const found = await untilReported(parts, call, session, isUnknown)
      if (found === undefined) ofPeople.set(key, true)
      return found
    },
  }
}

/** Waits while the session may be that of a run which has not reported it. */
async function untilReported(
  { store, waits, clock }: CodingAgentRunParts,
  { tenant, withinMs = MAX_WAIT_MS, signal }: CodingAgentCall,
  session: string,
  isUnknown: (run: RunRow) => Promise<boolean>,
): Promise<RunRow | undefined> {
  const late = new AbortController()
  const callOff = after(clock, Math.min(withinMs, MAX_WAIT_MS), () => late.abort())
  const ended = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  try {
    for (;;) {
      // Waits from before the look, so that a report in between is not missed.
      const change = waits.change(tenant, ended)
      const unknown = await findUnderWay(store, tenant, isUnknown)
      const run = await store.findRunOfExecutor(tenant, session)
      if (run !== undefined || unknown === undefined) return run
      if (ended.aborted || waits.closed.aborted)
        throw serverError(
          'runs.unknown_session',
          `the call may belong to ${unknown.run_id}, which has not reported its session`,
        )
      await change
    }
  } finally {
    callOff()
    late.abort()
  }
}

const underWay: readonly RunStatus[] = ['claimed', 'running']

async function findUnderWay(
  store: RunParts['store'],
  tenant: string,
  isWanted: (run: RunRow) => Promise<boolean>,
): Promise<RunRow | undefined> {
  for (const status of underWay) {
    let cursor = ''
    do {
      const page = await store.listRuns(tenant, { status }, { limit: PAGE, cursor })
      for (const run of page.rows) if (await isWanted(run)) return run
      cursor = page.nextCursor
    } while (cursor !== '')
  }
  return undefined
}

/** Whether the run may start this coding agent. What a runner starts by its own settings is known to the runner only. */
async function startsAgent(
  parts: CodingAgentRunParts,
  { tenant_id, agent_name }: RunRow,
  agent: string,
): Promise<boolean> {
  const { executor } = await requireBlueprint(parts, tenant_id, agent_name ?? '')
  return executor === undefined || executor.profile !== undefined || executor.agent === agent
}
