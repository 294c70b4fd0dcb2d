import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { firstText } from '../compile-rules.ts'
import type { HookChainAction } from '../files/rule-schema.ts'
import {
  defaultFallbackDescription,
  defaultFallbackPrompt,
  defaultTeamMessage,
  defaultTeamSummary,
  type FiringEvent,
  fillTemplate,
} from '../rule-templates.ts'

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
const DEFAULT_SENDER = 'self-healing-mesh'

export const executed = (detail: string): ActionOutcome => ({ status: 'executed', detail })
export const skipped = (reason: string): ActionOutcome => ({ status: 'skipped', reason })
export const failed = (reason: string): ActionOutcome => ({ status: 'failed', reason })

/** The agent that an action starts. */
export interface FallbackAgent {
  readonly description: string
  readonly prompt: string
  readonly agentType?: string
  readonly model?: string
}

/** What an action tells a team. */
export interface TeamNotice {
  readonly team: string
  readonly sender: string
  readonly recipients: readonly string[]
  readonly summary: string
  readonly text: string
}

export interface NotifiedTeam {
  readonly members: readonly { readonly name: string }[]
  send(notice: TeamNotice): Promise<ActionOutcome>
}

/** What actions of rules need. The gateway lends it, or a program with hook chains of its own. */
export interface ActionHost<Result extends ActionOutcome = ActionOutcome> {
  startAgent(agent: FallbackAgent): Promise<Result>
  /** The team of a dispatch, which an event cannot change, and the one of messages that name none. */
  readonly ownTeam?: string | undefined
  readonly defaultTeam?: string | undefined
  readonly sender: string | undefined
  findTeam(name: string): Promise<NotifiedTeam | undefined>
  readonly allowsRemoteSessions: boolean
  warmCapacity(mayCreateEnvironment: boolean): Promise<ActionOutcome>
}

/** Runs one of the actions that every host of rules has. */
export async function runHostAction<Result extends ActionOutcome>(
  action: HookChainAction,
  event: FiringEvent,
  host: ActionHost<Result>,
): Promise<ActionOutcome | Result> {
  switch (action.type) {
    case 'spawn_fallback_agent': {
      const { description = defaultFallbackDescription(event), promptTemplate, agentType, model } = action
      const prompt = fillOr(promptTemplate, event, defaultFallbackPrompt)
      return host.startAgent({ description, prompt, ...definedFields({ agentType, model }) })
    }
    case 'notify_team':
      return notifyTeam(action, event, host)
    case 'warm_remote_capacity':
      // Before the host acts, so that no host can pass the permission by.
      if (!host.allowsRemoteSessions) return skipped('Remote sessions are blocked by policy')
      return host.warmCapacity(action.createDefaultEnvironmentIfMissing ?? false)
  }
}

async function notifyTeam(
  action: Extract<HookChainAction, { type: 'notify_team' }>,
  event: FiringEvent,
  { ownTeam, defaultTeam, sender = DEFAULT_SENDER, findTeam }: ActionHost,
): Promise<ActionOutcome> {
  const ofEvent = firstText(event.payload ?? {}, ['team_name', 'teamName'])
  const name = action.teamName ?? ownTeam ?? ofEvent ?? defaultTeam
  if (name === undefined) return skipped('No team context is available for notify_team action')
  const team = await findTeam(name)
  if (team === undefined) return skipped(`Team file not found for team ${name}`)
  const members = team.members.map((member) => member.name)
  const recipients = chooseRecipients(action.recipients, members, sender)
  if (recipients.length === 0) return skipped('No eligible recipients for notify_team action')
  const summary = fillOr(action.summary, event, defaultTeamSummary)
  const text = fillOr(action.messageTemplate, event, defaultTeamMessage)
  return team.send({ team: name, sender, recipients, summary, text })
}

/** The members that a message goes to. Without a list, or with `*`, all except the sender. */
function chooseRecipients(
  wanted: readonly string[] | undefined,
  members: readonly string[],
  sender: string,
): readonly string[] {
  if (wanted === undefined || wanted.length === 0 || wanted.includes('*'))
    return members.filter((name) => name !== sender)
  return wanted.filter((name) => members.includes(name))
}

function fillOr(
  template: string | undefined,
  event: FiringEvent,
  otherwise: (event: FiringEvent) => string,
): string {
  return template === undefined ? otherwise(event) : fillTemplate(template, event)
}
