import { decisionKinds } from './decision.ts'
import { type FieldsType, schema } from './schema/schema.ts'

/** The outcomes of an agent's step. */
export const outcomes = ['success', 'failed', 'timeout', 'unknown'] as const
/** How an agent's step ended. */
export type Outcome = (typeof outcomes)[number]

export const hookScopes = ['global', 'tenant', 'agent'] as const
/** Which events a stored hook applies to: those of every tenant, of its tenant, or of some agents of its tenant. */
export type Scope = (typeof hookScopes)[number]

const outcome = schema.choice(outcomes)

const nameOrNames = (about: string) =>
  schema.union([schema.text(), schema.list(schema.text())], 'a text or a list of texts', about)

const command = schema.object({
  program: nameOrNames('The program: `rm`, `mkfs*`, or a list of which one must fit.'),
  ...schema.partial({
    subcommand: nameOrNames('The subcommand: `push`, or a list of which one must fit.'),
    flags: schema.list(schema.text(), 'Flags, all of them: `[r, f]`.'),
    any_flags: schema.list(schema.text(), 'Flags, at least one of them.'),
    without_flags: schema.list(schema.text(), 'Flags, none of them.'),
    args: schema.list(schema.text(), 'Patterns; each must match an argument.'),
    via: schema.list(schema.text(), 'Programs on the way to it, all of them: `[sudo]`.'),
    remote: schema.boolean('Whether it runs on another machine or in a container.'),
  }),
})
/** A command that a hook looks for in shell lines. */
export type CommandCondition = NonNullable<(typeof command)['type']>

const match = schema.object(
  schema.partial({
    glob: schema.text('A shell-style pattern on the whole name: `mcp__*`.'),
    names: schema.list(schema.text(), 'Exact names, or `Tool(pattern)`; one must match.'),
    fields: schema.map(
      schema.scalar(),
      'Dot path into the payload → its value: `tool_input.path: /etc/hosts`.',
    ),
    outcome: schema.union(
      [outcome, schema.list(outcome)],
      'success, failed, timeout, unknown, or a list of these',
      'How the agent’s step ended: one outcome or a list.',
    ),
    command: schema.union(
      [command, schema.list(command, undefined, { minItems: 1 })],
      'a command or a list of commands',
      'A command that a shell line runs, or a list of which one must run.',
    ),
  }),
  'Further conditions; all of them must hold.',
)
/** Further conditions of a hook; all of them must hold. */
export type Match = NonNullable<(typeof match)['type']>

/** Other tools write `continue` or `ignore` for `allow`. */
const policy = (about: string) =>
  schema.choice(['block', 'allow'], about, { continue: 'allow', ignore: 'allow' })

/**
 * The fields of a hook, declared once: a hook file, the REST and WebSocket API, the database, the JSON Schema, the docs
 * and the form of the web app follow from here. Guards declare their own fields (`engine/guard`).
 */
export const baseHookFields = {
  id: schema.optional(schema.text('Stable id: decisions, traces and guards name it.', { minLength: 1 })),
  event: schema.text('The event, in any spelling of its name.', { minLength: 1 }),
  handler_type: schema.text('What it runs: command, http, prompt, agent, script or answer.', {
    minLength: 1,
  }),
  ...schema.partial({
    config: schema.any('Settings of the handler.'),
    name: schema.text('A short title for people.'),
    description: schema.text('What the hook is for.'),
    tags: schema.list(schema.text(), 'Words to find hooks by, such as `ASI02` of OWASP.'),
    scope: schema.choice(hookScopes, 'Whose events: all tenants, its tenant (the default), or `agent_ids`.'),
    agent_ids: schema.list(schema.text(), 'Agents of a hook with scope `agent`: ids or names.'),
    matcher: schema.text(
      'An RE2 search on the tool name, or `Tool(pattern)` such as `Bash(git push*)` or `Write(./.env)`.',
    ),
    if_expr: schema.text('A condition in CEL: `tool_input.command.contains("--force")`.'),
    match,
    opaque: schema.choice(
      decisionKinds,
      'If a shell line hides what the hook may look for: allow (the default), ask or block.',
    ),
    timeout_ms: schema.integer(1, 600_000, 'The deadline in milliseconds; the event sets the default.'),
    on_error: policy('What a failing hook means for a gate: block (the default) or allow.'),
    on_timeout: policy('What a missed deadline means for a gate.'),
    on_invalid: policy('What an unreadable answer means for a gate.'),
    answer: schema.choice(
      ['exact', 'strict', 'lenient', 'ignore'],
      'How printed text is read: `exact` is the default in hook files and the web form, `strict` elsewhere.',
    ),
    priority: schema.integer(-1_000_000, 1_000_000, 'Higher runs first. 0 by default.'),
    enabled: schema.boolean('false switches it off.'),
    disabled_reason: schema.text('Why the hook is off.'),
    tripped_by: schema.choice(['error', 'timeout', 'invalid'], 'The failures that switched it off.'),
    locked: schema.boolean('Managed: runs first, and sees every rewrite.'),
    recheck: schema.boolean('Runs again if a later hook changes the input.'),
    ask: schema.choice(
      ['person', 'host'],
      'Who answers `ask`: a person (the default), or the agent’s own dialog.',
    ),
    approvers: schema.integer(1, 9, 'How many people must approve.'),
    routes: schema.list(schema.text(), 'The `approval_routes` that carry its questions; all if omitted.'),
    preapproves: schema.boolean('Its `grant` answers the questions of other hooks about the same call.'),
    shadow: schema.boolean('Runs and is recorded; changes nothing.'),
    transform: schema.boolean('May change the event, so the event waits for it.'),
    version: schema.integer(0, Number.MAX_SAFE_INTEGER, 'Counted by the store.'),
  }),
} as const

/** A hook without the fields of guards: what handlers and matchers see. */
export interface BaseHook extends FieldsType<typeof baseHookFields> {}

/** The fields of a hook that decide which events it matches. */
export interface HookConditions
  extends Pick<BaseHook, 'id' | 'name' | 'matcher' | 'if_expr' | 'match' | 'agent_ids' | 'opaque'> {}
