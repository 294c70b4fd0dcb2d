import type { HookChainEvent, RulePayload } from '../compile-rules.ts'

/** What every callback of a host gets. */
interface RuleRequest {
  readonly ruleId: string
  readonly eventName: string
  readonly outcome: HookChainEvent['outcome']
  readonly payload: RulePayload
  readonly signal?: AbortSignal
}

/** A fallback agent to launch. */
export interface LaunchFallbackRequest extends RuleRequest {
  readonly description: string
  readonly prompt: string
  readonly agentType?: string
  readonly model?: string
  readonly runInBackground: true
}

/** Whether the host launched the agent. */
export interface LaunchFallbackReply {
  readonly launched: boolean
  readonly agentId?: string
  /** Why it was not launched. */
  readonly reason?: string
}

/** One message to members of a team. */
export interface NotifyTeamRequest extends RuleRequest {
  readonly teamName: string
  readonly recipients: readonly string[]
  readonly senderName: string
  readonly summary: string
  readonly message: string
}

export interface NotifyTeamReply {
  readonly sent: boolean
  /** How many got it; all recipients if omitted. */
  readonly recipientCount?: number
  readonly reason?: string
}

export interface WarmCapacityRequest extends RuleRequest {
  readonly createDefaultEnvironmentIfMissing: boolean
}

export interface WarmCapacityReply {
  readonly warmed: boolean
  readonly environmentId?: string
  readonly reason?: string
}

/** A message in the mailbox of a member. */
export interface MailboxMessage {
  readonly from: string
  readonly text: string
  readonly summary: string
  readonly color?: string
  /** ISO 8601. */
  readonly timestamp: string
}

/** The connection to remote environments. */
export interface RemoteBridge {
  isActive(): boolean | Promise<boolean>
  /** The kinds of preconditions that are not met; none by default. */
  failedPreconditions?(): Promise<readonly string[]>
  listEnvironments(): Promise<readonly { readonly id: string }[]>
  createEnvironment?(name: string): Promise<{ readonly id: string }>
}

type Fields = Readonly<Record<string, unknown>>

/** Where a dispatch reports what it did. */
export interface HookChainsTelemetry {
  /** Counts events; never gets the text of a reason. */
  analytics?(name: string, fields: Fields): void
  /** Gets the texts of reasons and details too. */
  otel?(name: string, fields: Fields): void
  /** One record per dispatch. */
  diagnostics?(name: string, fields: Fields): void
}

/** What the host lends to one dispatch. Every part is optional. */
export interface HookChainsRuntime {
  /** How many chains led to this event; 0 if omitted. */
  readonly chainDepth?: number
  readonly signal?: AbortSignal
  /** Separates dedup windows, for example of sessions. */
  readonly dedupScope?: string
  readonly teamName?: string
  readonly senderName?: string
  /** The team that the host itself belongs to. */
  readonly hostTeamName?: string
  /** The name of the agent that the host runs. */
  readonly hostAgentName?: string
  readonly hostColor?: string
  launchFallbackAgent?(request: LaunchFallbackRequest): Promise<LaunchFallbackReply>
  /** Sends the message, in place of the mailboxes. */
  notifyTeam?(request: NotifyTeamRequest): Promise<NotifyTeamReply>
  /** The members of a team; undefined if there is no such team. */
  readTeam?(name: string): Promise<{ readonly members: readonly { readonly name: string }[] } | undefined>
  writeToMailbox?(recipient: string, message: MailboxMessage, teamName: string): Promise<void>
  warmRemoteCapacity?(request: WarmCapacityRequest): Promise<WarmCapacityReply>
  readonly bridge?: RemoteBridge
  /** Whether a permission is granted; all are if omitted. */
  isPolicyAllowed?(policy: 'allow_remote_sessions'): boolean
  readonly telemetry?: HookChainsTelemetry
}
