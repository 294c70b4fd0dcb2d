import type { Page } from './audit-store.ts'
import type { NewDelivery } from './delivery-store.ts'

type Content = Readonly<Record<string, unknown>>

/** A stored recovery rule. */
export interface RuleRow {
  readonly tenant_id: string
  /** The id that its author gave it, unique in the tenant. */
  readonly rule_id: string
  /** The rule as it was saved, without `id` and `enabled`. Sealed when stored. Null if the key is gone. */
  readonly definition: Content | null
  readonly enabled: boolean
  readonly version: number
  readonly created_by: string | null
  readonly created_at: number
  readonly updated_at: number
}

/** A team or an environment. The definition is sealed when stored, and null if the key is gone. */
export interface NamedRow {
  readonly tenant_id: string
  readonly name: string
  readonly definition: Content | null
  readonly created_at: number
  readonly updated_at: number
}

/** A message in the mailbox of a member of a team. */
export interface NewMailboxMessage {
  /** A second message with the same id is not stored. */
  readonly message_id: string
  readonly team: string
  readonly member: string
  readonly firing_id: string | null
  /** Sender, summary and text. Sealed when stored. */
  readonly content: Content
}

export interface MailboxRow extends Omit<NewMailboxMessage, 'content'> {
  readonly tenant_id: string
  readonly content: Content | null
  readonly created_at: number
  readonly read_at: number | null
}

export interface MailboxFilter {
  readonly team?: string
  readonly member?: string
  readonly unread?: boolean
  readonly firing_id?: string
}

/** `pending`: not begun · `started`: begun, and its end is not known. */
export const actionStatuses = ['pending', 'started', 'executed', 'skipped', 'failed'] as const
export type ActionStatus = (typeof actionStatuses)[number]

export interface NewFiringAction {
  readonly action_id: string
  readonly action_type: string
  /** A disabled action is skipped, after it used up its window. */
  readonly enabled: boolean
  /** 0 is no window. */
  readonly dedup: { readonly key: string; readonly windowMs: number }
}

/** A rule that matches an event. */
export interface NewFiring {
  /** Follows from the event and the rule, so that the same cause fires once. */
  readonly firing_id: string
  readonly tenant_id: string
  readonly rule_id: string
  /** `stored`, or the path of the file of the rule. */
  readonly source: string
  readonly event_id: string
  readonly event: string
  readonly outcome: string
  readonly session_id: string | null
  readonly run_id: string | null
  readonly depth: number
  /** The rule and the event as they were. Sealed when stored. */
  readonly content: Content
  /** 0 is no window. */
  readonly cooldown: { readonly key: string; readonly windowMs: number }
  readonly actions: readonly NewFiringAction[]
  /** The work that runs the actions. */
  readonly delivery: NewDelivery
}

export interface FiringAction {
  readonly position: number
  readonly action_id: string
  readonly action_type: string
  readonly status: ActionStatus
  readonly reason: string | null
  readonly detail: string | null
  /** The run that the action started. */
  readonly run_id: string | null
  readonly updated_at: number
}

export interface FiringRow extends Omit<NewFiring, 'content' | 'cooldown' | 'actions' | 'delivery'> {
  readonly content: Content | null
  readonly created_at: number
  readonly actions: readonly FiringAction[]
}

/** `left_ms`: the cooldown of the rule goes on for so long, and nothing was stored. */
export type FiringResult = { readonly firing: FiringRow } | { readonly left_ms: number }

export interface FiringFilter {
  readonly rule_id?: string
  readonly event_id?: string
  /** The run whose end fired the rule. */
  readonly run_id?: string
  /** The run that an action of the firing started. */
  readonly started_run_id?: string
}

export type ActionEnd = Pick<FiringAction, 'position' | 'reason' | 'detail' | 'run_id'> & {
  readonly status: 'executed' | 'skipped' | 'failed'
}

type PageRequest = { readonly cursor?: string; readonly limit: number }

/** A window of a rule or an action. */
export interface GuardWindow {
  readonly kind: 'cooldown' | 'dedup'
  readonly key: string
  readonly windowMs: number
}

/** Recovery rules and what they need. Without `now`, the clock of the store. */
export interface RuleStore {
  /** In the order of creation. */
  listRules(tenant: string): Promise<readonly RuleRow[]>
  findRule(tenant: string, ruleId: string): Promise<RuleRow | undefined>
  /** Undefined if the id is taken. */
  createRule(
    tenant: string,
    rule: Pick<RuleRow, 'rule_id' | 'enabled' | 'created_by'> & { readonly definition: Content },
    now?: number,
  ): Promise<RuleRow | undefined>
  /** Without `version` it replaces any. */
  updateRule(
    tenant: string,
    ruleId: string,
    change: { readonly definition?: Content; readonly enabled?: boolean; readonly version?: number },
    now?: number,
  ): Promise<RuleRow | 'stale' | 'missing'>
  deleteRule(tenant: string, ruleId: string): Promise<boolean>

  /** Creates the team if `isNew`, else replaces it. Undefined if it exists already, or does not exist. */
  saveTeam(tenant: string, team: NamedDefinition, isNew: boolean, now?: number): Promise<NamedRow | undefined>
  findTeam(tenant: string, name: string): Promise<NamedRow | undefined>
  listTeams(tenant: string): Promise<readonly NamedRow[]>
  /** Deletes the team with the mailboxes of its members. */
  deleteTeam(tenant: string, name: string): Promise<boolean>

  saveEnvironment(
    tenant: string,
    environment: NamedDefinition,
    isNew: boolean,
    now?: number,
  ): Promise<NamedRow | undefined>
  findEnvironment(tenant: string, name: string): Promise<NamedRow | undefined>
  listEnvironments(tenant: string): Promise<readonly NamedRow[]>
  deleteEnvironment(tenant: string, name: string): Promise<boolean>

  /** Stores messages and the deliveries that carry them further, all or nothing. Existing ids stay as they are. */
  postMessages(
    tenant: string,
    messages: readonly NewMailboxMessage[],
    deliveries: readonly NewDelivery[],
    now?: number,
  ): Promise<void>
  /** Newest first. */
  listMailbox(tenant: string, filter: MailboxFilter, page: PageRequest): Promise<Page<MailboxRow>>
  findMessage(tenant: string, messageId: string): Promise<MailboxRow | undefined>
  /** Returns how many were unread. */
  markRead(tenant: string, messageIds: readonly string[], now?: number): Promise<number>
  deleteMessage(tenant: string, messageId: string): Promise<boolean>

  /**
   * Checks and arms the cooldown of the rule and the dedup windows of its actions, and stores the firing with its delivery,
   * in one transaction. A firing that exists is returned as it is, so that a repeated call fires nothing.
   */
  fireRule(firing: NewFiring, now?: number): Promise<FiringResult>
  /** How long cooldowns go on, by their keys. Keys without a window are absent. Arms nothing. */
  readWindows(
    tenant: string,
    windows: readonly GuardWindow[],
    now?: number,
  ): Promise<Readonly<Record<string, number>>>
  findFiring(tenant: string, firingId: string): Promise<FiringRow | undefined>
  /** Newest first. */
  listFirings(tenant: string, filter: FiringFilter, page: PageRequest): Promise<Page<FiringRow>>
  /** Marks a pending action as started. False if it has begun already. */
  startAction(tenant: string, firingId: string, position: number, now?: number): Promise<boolean>
  /** Stores how an action ended. False if its end is known already. */
  endAction(tenant: string, firingId: string, end: ActionEnd, now?: number): Promise<boolean>
}

export interface NamedDefinition {
  readonly name: string
  readonly definition: Content
}
