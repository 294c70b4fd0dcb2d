import type { MethodsOf } from '../../database/operation.ts'
import { columns, type RowOf, table } from '../../database/table.ts'
import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import type { mailboxOperations } from '../../teams/mailbox-operations.ts'
import { type Content, namedColumns } from '../../teams/team-tables.ts'
import type { firingOperations } from './firing-operations.ts'
import type { environmentOperations, ruleOperations, teamOperations } from './rule-operations.ts'

const { flag, id, internal, nullable, number, oneOf, sealedJson, tenantId, text } = columns

/** A stored recovery rule. */
export const rules = table(
  'rules',
  {
    tenant_id: tenantId(),
    /** The id that its author gave it, unique in the tenant. */
    rule_id: text(),
    /** The rule as it was saved, without `id` and `enabled`. */
    definition: sealedJson(),
    enabled: flag(),
    version: number(),
    created_by: nullable(text()),
    created_at: number(),
    updated_at: number(),
  },
  { key: ['tenant_id', 'rule_id'] },
)
export type RuleRow = RowOf<typeof rules>

export const environments = table('environments', namedColumns, { key: ['tenant_id', 'name'] })

/** `pending`: not begun · `started`: begun, and its end is not known. */
const actionStatuses = ['pending', 'started', 'executed', 'skipped', 'failed'] as const

export interface NewFiringAction {
  readonly action_id: string
  readonly action_type: string
  /** A disabled action is skipped, after it used up its window. */
  readonly enabled: boolean
  /** 0 is no window. */
  readonly dedup: { readonly key: string; readonly windowMs: number }
}

export const ruleFirings = table(
  'rule_firings',
  {
    tenant_id: tenantId(),
    /** Follows from the event and the rule, so that the same cause fires once. */
    firing_id: text(),
    rule_id: text(),
    /** `stored`, or the path of the file of the rule. */
    source: text(),
    event_id: text(),
    event: text(),
    outcome: text(),
    session_id: nullable(text()),
    run_id: nullable(text()),
    depth: number(),
    /** The rule and the event as they were. */
    content: sealedJson(),
    created_at: number(),
  },
  {
    key: ['tenant_id', 'firing_id'],
    indexes: [
      'firings_by_time (tenant_id, created_at, firing_id)',
      'firings_of_rule (tenant_id, rule_id, created_at, firing_id)',
      'firings_of_run (tenant_id, run_id, created_at, firing_id) where run_id is not null',
      'firings_to_prune (created_at)',
      'firings_of_event (tenant_id, event_id, created_at, firing_id)',
    ],
    expiry: [{ where: 'created_at < :before', order: 'created_at', keep: 'history' }],
  },
)

/** A rule that matches an event. */
export type NewFiring = Omit<RowOf<typeof ruleFirings>, 'content' | 'created_at'> & {
  readonly content: Content
  /** 0 is no window. */
  readonly cooldown: { readonly key: string; readonly windowMs: number }
  readonly actions: readonly NewFiringAction[]
  /** The work that runs the actions. */
  readonly delivery: NewDelivery
}

export const ruleActions = table(
  'rule_actions',
  {
    tenant_id: internal(id()),
    firing_id: internal(text()),
    position: number(),
    action_id: text(),
    action_type: text(),
    status: oneOf(actionStatuses),
    reason: nullable(text()),
    detail: nullable(text()),
    /** The run that the action started. */
    run_id: nullable(text()),
    updated_at: number(),
  },
  {
    key: ['tenant_id', 'firing_id', 'position'],
    foreignKeys: ['(tenant_id, firing_id) references rule_firings (tenant_id, firing_id) on delete cascade'],
    indexes: ['actions_of_run (tenant_id, run_id) where run_id is not null'],
  },
)
export type FiringAction = RowOf<typeof ruleActions>

export type FiringRow = RowOf<typeof ruleFirings> & { readonly actions: readonly FiringAction[] }

/** `left_ms`: the cooldown of the rule goes on for so long, and nothing was stored. */
export type FiringResult = { readonly firing: FiringRow } | { readonly left_ms: number }

export type ActionEnd = Pick<FiringAction, 'position' | 'reason' | 'detail' | 'run_id'> & {
  readonly status: 'executed' | 'skipped' | 'failed'
}

/** A window of a rule or an action. */
export interface GuardWindow {
  readonly kind: 'cooldown' | 'dedup'
  readonly key: string
  readonly windowMs: number
}

export type RuleStore = MethodsOf<
  typeof ruleOperations &
    typeof teamOperations &
    typeof environmentOperations &
    typeof mailboxOperations &
    typeof firingOperations
>
