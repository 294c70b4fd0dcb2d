import { type Clock, isoTime } from '../engine/core/clock.ts'
import { definedFields } from '../engine/core/defined-fields.ts'
import { errorText } from '../engine/core/error.ts'
import { firstText } from './compile-rules.ts'
import type { HookChainsRuntime, NotifyTeamRequest } from './hook-chains-runtime.ts'
import type { HookChainAction } from './rule-schema.ts'
import {
  defaultFallbackDescription,
  defaultFallbackPrompt,
  defaultTeamMessage,
  defaultTeamSummary,
  type FiringEvent,
  fillTemplate,
} from './rule-templates.ts'

/** How an action ended. */
export interface ActionOutcome {
  readonly status: 'executed' | 'skipped' | 'failed'
  /** Why it was skipped or failed. */
  readonly reason?: string
  /** What it did. */
  readonly detail?: string
}

/** The name of the environment that `createDefaultEnvironmentIfMissing` creates. */
export const DEFAULT_ENVIRONMENT = 'OpenClaude Self-Healing Warmup'
export const DEFAULT_SENDER = 'self-healing-mesh'

export const executed = (detail: string): ActionOutcome => ({ status: 'executed', detail })
export const skipped = (reason: string): ActionOutcome => ({ status: 'skipped', reason })
export const failed = (reason: string): ActionOutcome => ({ status: 'failed', reason })

interface ActionParts {
  readonly runtime: HookChainsRuntime
  readonly clock: Clock
}

/** Runs one action of a hook-chains file with what the host lends. */
export function runHookChainAction(
  action: HookChainAction,
  event: FiringEvent,
  parts: ActionParts,
): ActionOutcome | Promise<ActionOutcome> {
  if (action.enabled === false) return skipped('action disabled')
  if (action.type === 'spawn_fallback_agent') return spawnFallback(action, event, parts.runtime)
  if (action.type === 'notify_team') return notifyTeam(action, event, parts)
  return warmCapacity(action, event, parts.runtime)
}

type ActionOf<Type extends HookChainAction['type']> = Extract<HookChainAction, { type: Type }>

function signalOf({ signal }: HookChainsRuntime): { readonly signal?: AbortSignal } {
  return definedFields({ signal })
}

async function spawnFallback(
  { description, promptTemplate, agentType, model }: ActionOf<'spawn_fallback_agent'>,
  event: FiringEvent,
  runtime: HookChainsRuntime,
): Promise<ActionOutcome> {
  if (runtime.launchFallbackAgent === undefined)
    return failed('No fallback agent launcher is registered in runtime context')
  const { ruleId, eventName, outcome, payload = {} } = event
  try {
    const { launched, agentId, reason } = await runtime.launchFallbackAgent({
      ...{ ruleId, eventName, outcome, payload, runInBackground: true },
      description: description ?? defaultFallbackDescription(event),
      prompt:
        promptTemplate === undefined ? defaultFallbackPrompt(event) : fillTemplate(promptTemplate, event),
      ...definedFields({ agentType, model }),
      ...signalOf(runtime),
    })
    if (!launched) return failed(reason ?? 'Fallback launcher declined to start an agent')
    return executed(agentId === undefined ? 'Fallback agent launched' : `Fallback agent launched: ${agentId}`)
  } catch (thrown) {
    return failed(`Fallback agent launch failed: ${errorText(thrown)}`)
  }
}

/** The team that a message goes to: the action's, the runtime's, the event's, the host's. */
export function teamNameFor(
  action: { readonly teamName?: string },
  { payload = {} }: FiringEvent,
  known: { readonly own?: string | undefined; readonly usual?: string | undefined },
): string | undefined {
  return action.teamName ?? known.own ?? firstText(payload, ['team_name', 'teamName']) ?? known.usual
}

/** The members that a message goes to. Without a list, or with `*`, all except the sender. */
export function chooseRecipients(
  wanted: readonly string[] | undefined,
  members: readonly string[],
  sender: string,
): readonly string[] {
  if (wanted === undefined || wanted.length === 0 || wanted.includes('*'))
    return members.filter((name) => name !== sender)
  return wanted.filter((name) => members.includes(name))
}

async function notifyTeam(
  action: ActionOf<'notify_team'>,
  event: FiringEvent,
  { runtime, clock }: ActionParts,
): Promise<ActionOutcome> {
  const { ruleId, eventName, outcome, payload = {} } = event
  const known = { own: runtime.teamName, usual: runtime.hostTeamName }
  const teamName = teamNameFor(action, event, known)
  if (teamName === undefined) return skipped('No team context is available for notify_team action')
  const team = await runtime.readTeam?.(teamName)
  if (team === undefined) return skipped(`Team file not found for team ${teamName}`)
  const senderName = runtime.senderName ?? runtime.hostAgentName ?? DEFAULT_SENDER
  const members = team.members.map(({ name }) => name)
  const recipients = chooseRecipients(action.recipients, members, senderName)
  if (recipients.length === 0) return skipped('No eligible recipients for notify_team action')
  return sendToTeam(
    {
      ...{ ruleId, eventName, outcome, payload, teamName, recipients, senderName },
      ...teamTexts(action, event),
      ...signalOf(runtime),
    },
    { runtime, clock },
  )
}

/** Summary and text of a team message. */
export function teamTexts(
  { summary, messageTemplate }: { readonly summary?: string; readonly messageTemplate?: string },
  event: FiringEvent,
): { readonly summary: string; readonly message: string } {
  return {
    summary: summary === undefined ? defaultTeamSummary(event) : fillTemplate(summary, event),
    message: messageTemplate === undefined ? defaultTeamMessage(event) : fillTemplate(messageTemplate, event),
  }
}

async function sendToTeam(
  request: NotifyTeamRequest,
  { runtime, clock }: ActionParts,
): Promise<ActionOutcome> {
  const { recipients, teamName, senderName: from, summary, message: text } = request
  const sent = (count: number) => executed(`Team notification sent to ${count} recipient(s)`)
  if (runtime.notifyTeam !== undefined) {
    try {
      const reply = await runtime.notifyTeam(request)
      if (!reply.sent) return skipped(reply.reason ?? 'notify_team callback declined to send')
      return sent(reply.recipientCount ?? recipients.length)
    } catch (thrown) {
      return failed(`notify_team callback failed: ${errorText(thrown)}`)
    }
  }
  const color = definedFields({ color: runtime.hostColor })
  for (const recipient of recipients) {
    const message = { from, text, summary, ...color, timestamp: isoTime(clock.now()) }
    await runtime.writeToMailbox?.(recipient, message, teamName)
  }
  return sent(recipients.length)
}

async function warmCapacity(
  { createDefaultEnvironmentIfMissing = false }: ActionOf<'warm_remote_capacity'>,
  { ruleId, eventName, outcome, payload = {} }: FiringEvent,
  runtime: HookChainsRuntime,
): Promise<ActionOutcome> {
  if (runtime.signal?.aborted) return skipped('aborted')
  // Before the callback, so that no callback can pass the permission by.
  if (runtime.isPolicyAllowed?.('allow_remote_sessions') === false)
    return skipped('Remote sessions are blocked by policy')
  try {
    if (runtime.warmRemoteCapacity === undefined)
      return await warmOverBridge(runtime.bridge, createDefaultEnvironmentIfMissing)
    const { warmed, environmentId, reason } = await runtime.warmRemoteCapacity({
      ...{ ruleId, eventName, outcome, payload, createDefaultEnvironmentIfMissing },
      ...signalOf(runtime),
    })
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
