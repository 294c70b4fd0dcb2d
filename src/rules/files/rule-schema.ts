import { outcomes } from '../../engine/core/hook.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import {
  checked,
  nonEmpty,
  numeric,
  openObject,
  tagged,
  withAbout,
} from '../../engine/core/schema/more-schemas.ts'
import {
  type ObjectSchema,
  type Schema,
  type SchemaFields,
  type SchemaType,
  schema,
} from '../../engine/core/schema/schema.ts'

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

/** Unknown fields are left out, as in the original: a file may be written for a later version. */
function lenient<const F extends SchemaFields>(fields: F): ObjectSchema<F> {
  return openObject(fields, 'dropped')
}

const text = nonEmpty()
const windowMs = schema.integer(0, MAX_WINDOW_MS)
const depth = (min: number) => schema.integer(min, MAX_DEPTH)

/** The fields that every action has. */
const actionFields = {
  id: schema.optional(withAbout(text, 'Names the action in results; its type and position if omitted.')),
  enabled: schema.optional(schema.boolean('true if omitted.')),
  dedupWindowMs: schema.optional(withAbout(windowMs, 'Overrides the dedup window of the rule.')),
}

const spawnFallbackAgent = lenient({
  ...actionFields,
  type: schema.choice(['spawn_fallback_agent']),
  description: schema.optional(schema.text()),
  promptTemplate: schema.optional(schema.text()),
  agentType: schema.optional(withAbout(text, 'The agent to start.')),
  model: schema.optional(schema.text()),
})

const notifyTeam = lenient({
  ...actionFields,
  type: schema.choice(['notify_team']),
  teamName: schema.optional(text),
  recipients: schema.optional(schema.list(schema.text(), 'Names of members; `*` for all.')),
  summary: schema.optional(schema.text()),
  messageTemplate: schema.optional(schema.text()),
})

const warmRemoteCapacity = lenient({
  ...actionFields,
  type: schema.choice(['warm_remote_capacity']),
  createDefaultEnvironmentIfMissing: schema.optional(schema.boolean()),
})

const retryRun = lenient({
  ...actionFields,
  type: schema.choice(['retry_run']),
  maxRetries: schema.optional(schema.integer(1, MAX_DEPTH, 'How often a run is repeated; 1 if omitted.')),
})

const handlerConfig = schema.map(schema.any())

const runCommand = lenient({
  ...actionFields,
  type: schema.choice(['run_command']),
  config: withAbout(handlerConfig, 'The `config` of a command hook.'),
  timeoutMs: schema.optional(schema.integer(1, 600_000, '60000 if omitted.')),
})

const callWebhook = lenient({
  ...actionFields,
  type: schema.choice(['call_webhook']),
  config: withAbout(handlerConfig, 'The `config` of an http hook.'),
  timeoutMs: schema.optional(schema.integer(1, 600_000, '60000 if omitted.')),
})

const outcome = schema.choice(outcomes)

const condition = lenient({
  toolNames: schema.optional(schema.list(schema.text(), '`tool_name` is one of these.')),
  taskStatuses: schema.optional(schema.list(schema.text(), '`task_status` or `status` is one of these.')),
  errorIncludes: schema.optional(schema.list(schema.text(), 'The error contains one of these, in any case.')),
  eventFieldEquals: schema.optional(
    schema.map(
      schema.union([schema.text(), numeric(), schema.boolean()], 'text, a number, true or false'),
      'Dot path in the payload → the exact value.',
    ),
  ),
})

function triggerSchema<Event extends string>(event: Schema<Event>) {
  return checked(
    lenient({
      event,
      outcome: schema.optional(outcome),
      outcomes: schema.optional(schema.list(outcome, undefined, { minItems: 1 })),
    }),
    ({ outcome: one, outcomes: several }) =>
      one !== undefined && several !== undefined
        ? 'Use either trigger.outcome or trigger.outcomes, not both.'
        : undefined,
  )
}

function ruleSchema<Event extends string, Action>(event: Schema<Event>, action: Schema<Action>) {
  return lenient({
    id: text,
    enabled: schema.optional(schema.boolean()),
    trigger: triggerSchema(event),
    condition: schema.optional(condition),
    cooldownMs: schema.optional(windowMs),
    dedupWindowMs: schema.optional(windowMs),
    maxDepth: schema.optional(depth(0)),
    actions: schema.list(action, undefined, { minItems: 1 }),
  })
}

function configSchema<Rule>(rule: Schema<Rule>) {
  return lenient(
    schema.partial({
      version: schema.choice([1]),
      enabled: schema.boolean(),
      maxChainDepth: depth(1),
      defaultCooldownMs: windowMs,
      defaultDedupWindowMs: windowMs,
      rules: schema.list(rule),
    }),
  )
}

const hookChainAction = tagged('type', [spawnFallbackAgent, notifyTeam, warmRemoteCapacity])
const hookChainRule = ruleSchema(schema.choice(hookChainEvents), hookChainAction)
export const hookChainsSchema = configSchema(hookChainRule)

/** An action of a hook-chains file. */
export type HookChainAction = SchemaType<typeof hookChainAction>
/** A rule of a hook-chains file. */
export type HookChainRule = SchemaType<typeof hookChainRule>
/** The content of a hook-chains file, with its defaults. */
export type HookChainsConfig = CompleteConfig<HookChainRule>

const recoveryAction = tagged('type', [
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

export type RecoveryAction = SchemaType<typeof recoveryAction>
export type RecoveryActionType = RecoveryAction['type']
export interface RecoveryRule extends SchemaType<typeof recoveryRuleSchema> {
  readonly enabled: boolean
}
export type RecoveryConfig = CompleteConfig<RecoveryRule>

type FileFields = Required<Omit<SchemaType<typeof recoveryConfigSchema>, 'rules'>>
interface CompleteConfig<Rule> extends FileFields {
  readonly rules: readonly Rule[]
}

const defaults = {
  version: 1,
  enabled: true,
  maxChainDepth: DEFAULT_CHAIN_DEPTH,
  defaultCooldownMs: DEFAULT_WINDOW_MS,
  defaultDedupWindowMs: DEFAULT_WINDOW_MS,
} as const

/** The content of a file with its defaults. */
export function completeConfig<Rule extends object>(
  given: Partial<CompleteConfig<Rule>>,
): CompleteConfig<Rule & { readonly enabled: boolean }> {
  return { ...defaults, ...given, rules: (given.rules ?? []).map((rule) => ({ enabled: true, ...rule })) }
}

/** What a rule must have to be evaluated. */
export type TriggeredRule = Pick<
  SchemaType<typeof recoveryRuleSchema>,
  'id' | 'enabled' | 'trigger' | 'condition'
>
export type RuleCondition = SchemaType<typeof condition>

/** The config of a file: the object itself, or what it has under `hookChains`. */
export function unwrapHookChains(content: unknown): {
  readonly value: unknown
  readonly path: readonly string[]
} {
  return isRecord(content) && Object.hasOwn(content, 'hookChains')
    ? { value: content.hookChains, path: ['hookChains'] }
    : { value: content, path: [] }
}
