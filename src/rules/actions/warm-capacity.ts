import { errorText } from '../../engine/core/errors/error.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import type { DetachedProcess } from '../../safe/process/detached-process.ts'
import { type EnvironmentDefinition, readEnvironment } from '../environments.ts'
import { actionKey, type RuleActionCall, type RuleActionParts, type RuleActionResult } from './rule-action.ts'
import { DEFAULT_ENVIRONMENT, executed, failed, skipped } from './run-action.ts'

/** The processes of environments that this gateway started. */
export interface EnvironmentProcesses {
  isRunning(key: string): boolean
  /** Rejects if the process cannot be started or ends at once. */
  start(key: string, definition: Extract<EnvironmentDefinition, { type: 'process' }>): Promise<void>
}

export function createEnvironmentProcesses(
  startProcess: (definition: Extract<EnvironmentDefinition, { type: 'process' }>) => Promise<DetachedProcess>,
): EnvironmentProcesses {
  const running = new Map<string, DetachedProcess>()
  return {
    isRunning: (key) => running.get(key)?.isRunning() ?? false,
    async start(key, definition) {
      running.set(key, await startProcess(definition))
    },
  }
}

const TIMEOUT_MS = 60_000

/** Starts runners through the first environment that is switched on. */
export async function warmEnvironment(
  call: RuleActionCall,
  parts: RuleActionParts,
  mayCreate: boolean,
): Promise<RuleActionResult> {
  const { tenant } = call
  const environments = await listEnvironments(tenant, parts)
  const created = environments.length === 0 && mayCreate ? await createDefault(tenant, parts) : undefined
  if (environments.length === 0 && created === undefined)
    return skipped('Bridge is not active; warm_remote_capacity is a safe no-op')
  const chosen = created ?? environments.find(({ definition }) => definition.enabled !== false)
  if (chosen === undefined) return skipped('No eligible remote environment available for warm-up')
  try {
    const problem = await warm(call, chosen, parts)
    if (problem !== undefined) return failed(`Remote warm-up failed: ${problem}`)
  } catch (thrown) {
    return failed(`Remote warm-up failed: ${errorText(thrown)}`)
  }
  return executed(`Remote warm-up checked environment ${chosen.name}`)
}

interface NamedEnvironment {
  readonly name: string
  readonly definition: EnvironmentDefinition
}

async function listEnvironments(
  tenant: string,
  { store }: RuleActionParts,
): Promise<readonly NamedEnvironment[]> {
  const rows = await store.listEnvironments(tenant)
  return rows.flatMap(({ name, definition: stored }) => {
    const definition = readEnvironment(stored)
    return definition === undefined ? [] : [{ name, definition }]
  })
}

async function createDefault(
  tenant: string,
  { store, defaultEnvironment }: RuleActionParts,
): Promise<NamedEnvironment | undefined> {
  const given = defaultEnvironment()
  const definition = given === undefined ? undefined : readEnvironment(given)
  if (given === undefined || definition === undefined) return undefined
  await store.saveEnvironment(tenant, { name: DEFAULT_ENVIRONMENT, definition: given }, true)
  return { name: DEFAULT_ENVIRONMENT, definition }
}

/** Returns what went wrong. */
async function warm(
  call: RuleActionCall,
  { name, definition }: NamedEnvironment,
  { edition, processes, runHandler }: RuleActionParts,
): Promise<string | undefined> {
  const { tenant, event, envelope } = call
  if (definition.type !== 'http' && !runsCommands(edition))
    return 'the standard edition starts no commands; use an environment of type http'
  if (definition.type === 'process') {
    const key = `${tenant}/${name}`
    if (!processes.isRunning(key)) await processes.start(key, definition)
    return undefined
  }
  const { type, config } = definition
  const request = { tenant, id: actionKey(call), type, config, timeoutMs: TIMEOUT_MS, event, envelope }
  const { status, reason } = await runHandler(request)
  return status === 'executed' ? undefined : (reason ?? status)
}
