import { z } from 'zod'
import { isRecord } from '../engine/core/check.ts'
import { type Outcome, outcomes } from '../engine/core/hook.ts'

/** The longest cooldown and dedup window: a day. */
const MAX_WINDOW_MS = 86_400_000
const MAX_DEPTH = 10
const DEFAULT_WINDOW_MS = 30_000
export const DEFAULT_CHAIN_DEPTH = 2

/** The events that a hook-chains file may name. */
export const hookChainEvents = [
  ...(['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Notification', 'UserPromptSubmit'] as const),
  ...(['SessionStart', 'SessionEnd', 'Stop', 'StopFailure', 'SubagentStart', 'SubagentStop'] as const),
  ...(['PreCompact', 'PostCompact', 'PermissionRequest', 'PermissionDenied', 'Setup'] as const),
  ...(['TeammateIdle', 'TaskCreated', 'TaskCompleted', 'Elicitation', 'ElicitationResult'] as const),
  ...(['ConfigChange', 'WorktreeCreate', 'WorktreeRemove', 'InstructionsLoaded'] as const),
  ...(['CwdChanged', 'FileChanged'] as const),
] as const

const text = z.string().min(1)
const windowMs = z.int().min(0).max(MAX_WINDOW_MS)
const depth = (min: number) => z.int().min(min).max(MAX_DEPTH)

/** The fields that every action has. */
const actionFields = {
  id: text.describe('Names the action in results; its type and position if omitted.').exactOptional(),
  enabled: z.boolean().describe('true if omitted.').exactOptional(),
  dedupWindowMs: windowMs.describe('Overrides the dedup window of the rule.').exactOptional(),
}

const spawnFallbackAgent = z.object({
  ...actionFields,
  type: z.literal('spawn_fallback_agent'),
  description: z.string().exactOptional(),
  promptTemplate: z.string().exactOptional(),
  agentType: text.describe('The agent to start.').exactOptional(),
  model: z.string().exactOptional(),
})

const notifyTeam = z.object({
  ...actionFields,
  type: z.literal('notify_team'),
  teamName: text.exactOptional(),
  recipients: z.array(z.string()).describe('Names of members; `*` for all.').exactOptional(),
  summary: z.string().exactOptional(),
  messageTemplate: z.string().exactOptional(),
})

const warmRemoteCapacity = z.object({
  ...actionFields,
  type: z.literal('warm_remote_capacity'),
  createDefaultEnvironmentIfMissing: z.boolean().exactOptional(),
})

const retryRun = z.object({
  ...actionFields,
  type: z.literal('retry_run'),
  maxRetries: z
    .int()
    .min(1)
    .max(MAX_DEPTH)
    .describe('How often a run is repeated; 1 if omitted.')
    .exactOptional(),
})

const handlerConfig = z.record(z.string(), z.unknown())

const runCommand = z.object({
  ...actionFields,
  type: z.literal('run_command'),
  config: handlerConfig.describe('The `config` of a command hook.'),
  timeoutMs: z.int().min(1).max(600_000).describe('60000 if omitted.').exactOptional(),
})

const callWebhook = z.object({
  ...actionFields,
  type: z.literal('call_webhook'),
  config: handlerConfig.describe('The `config` of an http hook.'),
  timeoutMs: z.int().min(1).max(600_000).describe('60000 if omitted.').exactOptional(),
})

const outcome = z.enum(outcomes)

const condition = z.object({
  toolNames: z.array(z.string()).describe('`tool_name` is one of these.').exactOptional(),
  taskStatuses: z.array(z.string()).describe('`task_status` or `status` is one of these.').exactOptional(),
  errorIncludes: z
    .array(z.string())
    .describe('The error contains one of these, in any case.')
    .exactOptional(),
  eventFieldEquals: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe('Dot path in the payload → the exact value.')
    .exactOptional(),
})

function triggerSchema<Event extends z.ZodType<string>>(event: Event) {
  return z
    .object({
      event,
      outcome: outcome.exactOptional(),
      outcomes: z.array(outcome).min(1).exactOptional(),
    })
    .refine(({ outcome: one, outcomes: several }) => one === undefined || several === undefined, {
      message: 'Use either trigger.outcome or trigger.outcomes, not both.',
    })
}

function ruleSchema<Event extends z.ZodType<string>, Action extends z.ZodType>(event: Event, action: Action) {
  return z.object({
    id: text,
    enabled: z.boolean().default(true),
    trigger: triggerSchema(event),
    condition: condition.exactOptional(),
    cooldownMs: windowMs.exactOptional(),
    dedupWindowMs: windowMs.exactOptional(),
    maxDepth: depth(0).exactOptional(),
    actions: z.array(action).min(1),
  })
}

function configSchema<Rule extends z.ZodType>(rule: Rule) {
  return z.object({
    version: z.literal(1).default(1),
    enabled: z.boolean().default(true),
    maxChainDepth: depth(1).default(DEFAULT_CHAIN_DEPTH),
    defaultCooldownMs: windowMs.default(DEFAULT_WINDOW_MS),
    defaultDedupWindowMs: windowMs.default(DEFAULT_WINDOW_MS),
    rules: z.array(rule).default([]),
  })
}

const hookChainAction = z.discriminatedUnion('type', [spawnFallbackAgent, notifyTeam, warmRemoteCapacity])
const hookChainRule = ruleSchema(z.enum(hookChainEvents), hookChainAction)
export const hookChainsSchema = configSchema(hookChainRule)

/** An action of a hook-chains file. */
export type HookChainAction = z.output<typeof hookChainAction>
/** A rule of a hook-chains file. */
export type HookChainRule = z.input<typeof hookChainRule>
/** The content of a hook-chains file, with its defaults. */
export type HookChainsConfig = z.output<typeof hookChainsSchema>

const recoveryAction = z.discriminatedUnion('type', [
  spawnFallbackAgent,
  notifyTeam,
  warmRemoteCapacity,
  retryRun,
  runCommand,
  callWebhook,
])
/** A rule of the product: any event of the catalogue, and actions of the gateway. The caller resolves the event's name. */
export const recoveryRuleSchema = ruleSchema(text, recoveryAction)
export const recoveryConfigSchema = configSchema(recoveryRuleSchema)

export type RecoveryAction = z.output<typeof recoveryAction>
export type RecoveryActionType = RecoveryAction['type']
export type RecoveryRule = z.output<typeof recoveryRuleSchema>
export type RecoveryConfig = z.output<typeof recoveryConfigSchema>

/** What a rule must have to be evaluated. */
export interface TriggeredRule {
  readonly id: string
  readonly enabled?: boolean | undefined
  readonly trigger: {
    readonly event: string
    readonly outcome?: Outcome
    readonly outcomes?: readonly Outcome[]
  }
  readonly condition?: RuleCondition
}

export interface RuleCondition {
  readonly toolNames?: readonly string[]
  readonly taskStatuses?: readonly string[]
  readonly errorIncludes?: readonly string[]
  readonly eventFieldEquals?: Readonly<Record<string, string | number | boolean>>
}

/** The config of a file: the object itself, or what it has under `hookChains`. */
export function unwrapHookChains(content: unknown): {
  readonly value: unknown
  readonly path: readonly string[]
} {
  return isRecord(content) && Object.hasOwn(content, 'hookChains')
    ? { value: content.hookChains, path: ['hookChains'] }
    : { value: content, path: [] }
}
