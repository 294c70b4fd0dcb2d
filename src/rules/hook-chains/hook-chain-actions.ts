import { errorText } from '../../engine/core/errors/error.ts'
import { type Clock, isoTime } from '../../engine/core/time/clock.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import {
  type ActionHost,
  type ActionOutcome,
  DEFAULT_ENVIRONMENT,
  executed,
  type FallbackAgent,
  failed,
  runHostAction,
  skipped,
  type TeamNotice,
} from '../actions/run-action.ts'
import type { HookChainAction } from '../files/rule-schema.ts'
import type { FiringEvent } from '../rule-templates.ts'
import type { HookChainsRuntime } from './hook-chains-runtime.ts'

interface ChainCall {
  readonly event: FiringEvent
  readonly runtime: HookChainsRuntime
  readonly clock: Clock
}

/** Runs one action of a hook-chains file with what the host lends. */
export async function runHookChainAction(
  action: HookChainAction,
  event: FiringEvent,
  { runtime, clock }: Pick<ChainCall, 'runtime' | 'clock'>,
): Promise<ActionOutcome> {
  if (action.enabled === false) return skipped('action disabled')
  if (runtime.signal?.aborted) return skipped('aborted')
  return runHostAction(action, event, chainHost({ event, runtime, clock }))
}

function chainHost(call: ChainCall): ActionHost {
  const { runtime } = call
  return {
    startAgent: (agent) => launchAgent(call, agent),
    ownTeam: runtime.teamName,
    defaultTeam: runtime.hostTeamName,
    sender: runtime.senderName ?? runtime.hostAgentName,
    async findTeam(name) {
      const team = await runtime.readTeam?.(name)
      return team && { members: team.members, send: (notice) => sendToTeam(call, notice) }
    },
    allowsRemoteSessions: runtime.isPolicyAllowed?.('allow_remote_sessions') !== false,
    warmCapacity: (mayCreate) => warmCapacity(call, mayCreate),
  }
}

/** What every callback of a host gets. */
function requestOf({ event, runtime }: ChainCall) {
  const { ruleId, eventName, outcome, payload = {} } = event
  return { ruleId, eventName, outcome, payload, ...definedFields({ signal: runtime.signal }) }
}

async function launchAgent(call: ChainCall, agent: FallbackAgent): Promise<ActionOutcome> {
  const { runtime } = call
  if (runtime.launchFallbackAgent === undefined)
    return failed('No fallback agent launcher is registered in runtime context')
  try {
    const request = { ...requestOf(call), runInBackground: true, ...agent } as const
    const { launched, agentId, reason } = await runtime.launchFallbackAgent(request)
    if (!launched) return failed(reason ?? 'Fallback launcher declined to start an agent')
    return executed(agentId === undefined ? 'Fallback agent launched' : `Fallback agent launched: ${agentId}`)
  } catch (thrown) {
    return failed(`Fallback agent launch failed: ${errorText(thrown)}`)
  }
}

async function sendToTeam(call: ChainCall, notice: TeamNotice): Promise<ActionOutcome> {
  const { runtime, clock } = call
  const { team: teamName, sender: from, recipients, summary, text } = notice
  const sent = (count: number) => executed(`Team notification sent to ${count} recipient(s)`)
  if (runtime.notifyTeam !== undefined) {
    try {
      const about = { teamName, recipients, senderName: from, summary, message: text }
      const reply = await runtime.notifyTeam({ ...requestOf(call), ...about })
      if (!reply.sent) return skipped(reply.reason ?? 'notify_team callback declined to send')
      return sent(reply.recipientCount ?? recipients.length)
    } catch (thrown) {
      return failed(`notify_team callback failed: ${errorText(thrown)}`)
    }
  }
  for (const recipient of recipients) {
    const written = { from, text, summary, ...definedFields({ color: runtime.hostColor }) }
    await runtime.writeToMailbox?.(recipient, { ...written, timestamp: isoTime(clock.now()) }, teamName)
  }
  return sent(recipients.length)
}

async function warmCapacity(
  call: ChainCall,
  createDefaultEnvironmentIfMissing: boolean,
): Promise<ActionOutcome> {
  const { runtime } = call
  try {
    if (runtime.warmRemoteCapacity === undefined)
      return await warmOverBridge(runtime.bridge, createDefaultEnvironmentIfMissing)
    const request = { ...requestOf(call), createDefaultEnvironmentIfMissing }
    const { warmed, environmentId, reason } = await runtime.warmRemoteCapacity(request)
    if (!warmed) return skipped(reason ?? 'No eligible remote environment available for warm-up')
    return executed(warmedText(environmentId))
  } catch (thrown) {
    return failed(`Remote warm-up failed: ${errorText(thrown)}`)
  }
}

function warmedText(environmentId: string | undefined): string {
  return environmentId === undefined
    ? 'Remote warm-up completed'
    : `Remote warm-up checked environment ${environmentId}`
}

async function warmOverBridge(
  bridge: HookChainsRuntime['bridge'],
  mayCreate: boolean,
): Promise<ActionOutcome> {
  let isActive: boolean
  try {
    isActive = (await bridge?.isActive()) ?? false
  } catch {
    return skipped('Bridge status unavailable; warm_remote_capacity skipped')
  }
  if (!isActive || bridge === undefined)
    return skipped('Bridge is not active; warm_remote_capacity is a safe no-op')
  const problems = (await bridge.failedPreconditions?.()) ?? []
  if (problems.length > 0) return skipped(`Remote warm-up preconditions failed: ${problems.join(', ')}`)
  const [first] = await bridge.listEnvironments()
  const environment = first ?? (mayCreate ? await bridge.createEnvironment?.(DEFAULT_ENVIRONMENT) : undefined)
  if (environment === undefined) return skipped('No eligible remote environment available for warm-up')
  return executed(warmedText(environment.id))
}
