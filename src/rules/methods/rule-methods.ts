import { type Caller, reaches } from '../../access/caller.ts'
import { HookError, isHookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { nullable, numeric, wholeNumber } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { defineCall } from '../../methods/method.ts'
import { found, jsonObject, shortText, withoutNulls } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { MASK } from '../../secrets/config-secrets.ts'
import { type RuleGroup, readRecoveryRule, STORED } from '../files/recovery-rules.ts'
import type { KnownRuleFile } from '../files/rule-files.ts'
import type { RecoveryRule } from '../files/rule-schema.ts'
import { cooldownKey } from '../fire-rules.ts'
import type { RuleRow } from '../stored/rule-tables.ts'
import { readStoredRule } from '../tenant-rules.ts'
import { inGroup } from '../trigger-rules.ts'

const id = shortText('The id of the rule, unique in its tenant.')
const windowMs = schema.integer(0, 86_400_000)

const fields = {
  trigger: jsonObject('`event`, and `outcome` or `outcomes`.'),
  condition: nullable(jsonObject('toolNames, taskStatuses, errorIncludes, eventFieldEquals.')),
  cooldownMs: nullable(windowMs, '30000 if omitted.'),
  dedupWindowMs: nullable(windowMs, '30000 if omitted.'),
  maxDepth: nullable(schema.integer(0, 10)),
  actions: schema.list(jsonObject(), 'What happens, in order.'),
}
const changes = schema.partial(fields)

const savedRule = schema.object({
  id: schema.text(),
  source: schema.text('`stored`, or the path of the file.'),
  enabled: schema.boolean(),
  definition: nullable(jsonObject('The rule as it was saved; null if it cannot be decrypted.')),
  problem: nullable(schema.text('Why the rule cannot be used.')),
  version: nullable(numeric()),
  created_by: nullable(schema.text()),
  updated_at: nullable(numeric()),
})
const rule = schema.object({
  ...savedRule.fields,
  cooldown_ms: nullable(numeric('The cooldown in force: its own, or that of its file.')),
  dedup_window_ms: nullable(numeric('The same for the dedup window of its actions.')),
  cooldown_left_ms: numeric('0 if it may fire now.'),
})
type ShownRule = SchemaType<typeof rule>

const file = schema.object({
  file: schema.text(),
  state: schema.choice(
    ['good', 'red', 'untrusted', 'changed', 'gone'],
    'Of all but `good`, the rules that were in force before stay so.',
  ),
  rules: numeric('How many rules of the file are in force.'),
  problem: schema.optional(schema.text()),
})

const list = defineCall({
  name: 'rules.list',
  about: 'The recovery rules: stored ones, and those of files.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/rules' },
  params: schema.object({
    folder: schema.optional(
      shortText('Only the files that apply in this folder of the gateway; else every file that it knows.'),
    ),
  }),
  result: schema.object({
    enabled: schema.boolean('Whether rules may fire: the setting `rules_enabled`.'),
    rules: schema.list(rule),
    files: schema.list(file, 'The rule files, and whether each is in force as it is written.'),
  }),
  needs: ['store', 'rules', 'settings', 'edition', 'defaultTenant'],
  async run({ params, caller, parts }) {
    const { tenant } = caller
    // A client that hears of a changed setting asks at once, and this node may still use the old one.
    await parts.settings.reload(tenant)
    const rows = await parts.store.listRules(tenant)
    const groups = await groupsFor(caller, params.folder, parts)
    const files = ruleFilesOf(caller, parts)
    const stored = groups.find(({ source }) => source === STORED)
    const ofFiles =
      params.folder === undefined
        ? files.flatMap(({ group }) => group ?? [])
        : groups.filter(({ source }) => source !== STORED)
    const shown = [
      ...rows.map((row) => showStored(row, stored, caller)),
      ...ofFiles.flatMap((group) => group.ruleSet.rules.map((each) => showOfFile(each, group, caller))),
    ]
    const left = await parts.store.readWindows(
      tenant,
      shown.flatMap(({ window }) => window ?? []),
    )
    const rules = shown.map(({ window, ...each }) => ({
      ...each,
      cooldown_left_ms: window === undefined ? 0 : (left[window.key] ?? 0),
    }))
    const states = files.map(({ group: _, fingerprint, ...state }) => state)
    return { enabled: parts.settings.of(tenant).rules_enabled === true, rules, files: states }
  },
})

type Unmeasured = Omit<ShownRule, 'cooldown_left_ms'> & {
  readonly window?: { readonly kind: 'cooldown'; readonly key: string; readonly windowMs: number }
}

function showStored(row: RuleRow, group: RuleGroup | undefined, caller: Caller): Unmeasured {
  const { rule_id, enabled, version, created_by, updated_at } = row
  const { rule: read, problem = null } = readStoredRule(row)
  return {
    ...{ id: rule_id, source: STORED, enabled, problem, version, created_by, updated_at },
    definition: row.definition === null ? null : masked(row.definition, caller),
    ...(read === undefined || group === undefined ? noWindows : windowsOf(read, group)),
  }
}

function showOfFile(read: RecoveryRule, group: RuleGroup, caller: Caller): Unmeasured {
  const { id: ruleId, enabled = true, ...definition } = read
  return {
    ...{ id: ruleId, source: group.source, enabled, definition: masked(definition, caller) },
    ...{ problem: null, version: null, created_by: null, updated_at: null, ...windowsOf(read, group) },
  }
}

const noWindows = { cooldown_ms: null, dedup_window_ms: null }

function windowsOf(read: RecoveryRule, group: RuleGroup) {
  const matched = inGroup(group, read)
  const { cooldownMs: cooldown_ms, dedupWindowMs: dedup_window_ms } = matched
  const window = { kind: 'cooldown', key: cooldownKey(matched), windowMs: cooldown_ms } as const
  return { window, cooldown_ms, dedup_window_ms }
}

/** Headers and signing secrets of webhooks are for administrators only. */
function masked(
  definition: Readonly<Record<string, unknown>>,
  { role }: Caller,
): Readonly<Record<string, unknown>> {
  if (reaches(role, 'admin')) return definition
  const hide = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(hide)
    const entries = Object.entries(value).map(([key, inner]) =>
      key === 'headers' || key === 'secret' ? [key, MASK] : [key, hide(inner)],
    )
    return Object.fromEntries(entries)
  }
  return Object.fromEntries(Object.entries(definition).map(([key, value]) => [key, hide(value)]))
}

type GroupParts = Pick<MethodParts, 'rules' | 'edition' | 'defaultTenant'>

/** Only the tenant of the machine's user may look into its folders. */
function mayReadFiles({ tenant }: Caller, { edition, defaultTenant }: GroupParts): boolean {
  return edition === 'lite' && tenant === defaultTenant
}

/** The rule files that the caller may see. */
export function ruleFilesOf(caller: Caller, parts: GroupParts): readonly KnownRuleFile[] {
  return mayReadFiles(caller, parts) ? parts.rules.files() : []
}

/** The rules that apply to events of a folder; without one, those that apply everywhere. */
export async function groupsFor(
  caller: Caller,
  folder: string | undefined,
  parts: GroupParts,
): Promise<readonly RuleGroup[]> {
  const cwd = folder ?? '/'
  return parts.rules.groupsOf(caller.tenant, mayReadFiles(caller, parts) ? { cwd, start: cwd } : undefined)
}

const saved = schema.object({ rule: savedRule })

const create = defineCall({
  name: 'rules.create',
  about: 'Saves a new recovery rule.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/rules', status: 201 },
  params: schema.object({
    id,
    enabled: schema.optional(schema.boolean('true if omitted.')),
    ...changes,
    trigger: fields.trigger,
    actions: fields.actions,
  }),
  result: saved,
  needs: ['store', 'edition', 'handlers', 'changed'],
  async run({ params, caller, parts }) {
    const { id: rule_id, enabled = true, ...given } = params
    const definition = withoutNulls(given)
    checkRule({ ...definition, id: rule_id, enabled }, parts)
    const { tenant, name: created_by } = caller
    const row = await parts.store.createRule(tenant, { rule_id, definition, enabled, created_by })
    if (row === undefined)
      throw serverError('gateway.conflict', `there is a rule ${rule_id} already`, {
        hint: 'Change it with rules.update, or choose another id.',
      })
    await parts.changed(tenant)
    return { rule: toSaved(row, caller) }
  },
})

const update = defineCall({
  name: 'rules.update',
  about: 'Changes fields of a recovery rule; null removes one.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/rules/:id' },
  params: schema.object({
    id,
    version: schema.optional(wholeNumber('Refuses the change if the rule has another version.')),
    enabled: schema.optional(schema.boolean()),
    ...changes,
  }),
  result: saved,
  needs: ['store', 'edition', 'handlers', 'changed'],
  async run({ params, caller, parts }) {
    const { id: rule_id, version, enabled, ...given } = params
    const before = found(await parts.store.findRule(caller.tenant, rule_id), 'rule', rule_id)
    const definition = withoutNulls({ ...before.definition, ...given })
    checkRule({ ...definition, id: rule_id, enabled: enabled ?? before.enabled }, parts)
    const row = await parts.store.updateRule(caller.tenant, rule_id, {
      definition,
      version: version ?? before.version,
      ...(enabled === undefined ? {} : { enabled }),
    })
    if (row === 'stale')
      throw serverError('gateway.conflict', `the rule ${rule_id} was changed meanwhile`, {
        hint: 'Read it again and repeat the change.',
      })
    const changed = found(row, 'rule', rule_id)
    await parts.changed(caller.tenant)
    return { rule: toSaved(changed, caller) }
  },
})

const toggle = defineCall({
  name: 'rules.toggle',
  about: 'Switches a recovery rule on or off.',
  role: 'operator',
  rest: { verb: 'POST', path: '/v1/rules/:id/toggle' },
  params: schema.object({ id, enabled: schema.boolean() }),
  result: saved,
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    const row = await parts.store.updateRule(caller.tenant, params.id, { enabled: params.enabled })
    // Without a version none is stale.
    const changed = found(row === 'stale' ? 'missing' : row, 'rule', params.id)
    await parts.changed(caller.tenant)
    return { rule: toSaved(changed, caller) }
  },
})

const remove = defineCall({
  name: 'rules.delete',
  about: 'Deletes a recovery rule. Its firings stay.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/rules/:id' },
  params: schema.object({ id }),
  result: schema.object({ id: schema.text() }),
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteRule(caller.tenant, params.id), 'rule', params.id)
    await parts.changed(caller.tenant)
    return { id: params.id }
  },
})

function toSaved(row: RuleRow, caller: Caller): SchemaType<typeof saved>['rule'] {
  const { window: _, cooldown_ms, dedup_window_ms, ...shown } = showStored(row, undefined, caller)
  return shown
}

/** Checks a rule with the configs of its commands and webhooks, which run with the handlers of hooks. */
export function checkRule(
  given: unknown,
  { edition, handlers }: Pick<MethodParts, 'edition' | 'handlers'>,
): RecoveryRule {
  const read = readRecoveryRule(given)
  const hooks = createHooks({ handlers })
  for (const [position, action] of read.actions.entries()) {
    if (action.type !== 'run_command' && action.type !== 'call_webhook') continue
    if (action.type === 'run_command' && !runsCommands(edition))
      throw handlerError('handler.not_in_edition', 'rules run no commands in the standard edition', {
        at: `actions.${position}.type`,
      })
    const handler_type = action.type === 'run_command' ? 'command' : 'http'
    const hook = { event: 'agent_event', handler_type, config: action.config, answer: 'ignore' } as const
    withinConfig(`actions.${position}.config`, () => hooks.add(hook))
  }
  return read
}

/** Names the field of the rule in an error that names a field of a handler, with or without `config.` before it. */
function withinConfig(field: string, check: () => unknown): void {
  try {
    check()
  } catch (thrown) {
    if (!isHookError(thrown)) throw thrown
    const { code, message, hint, at = '' } = thrown
    const inside = at.replace(/^config\b\.?/, '')
    throw new HookError(code, message, { at: inside === '' ? field : `${field}.${inside}`, hint })
  }
}

export const ruleMethods = [list, create, update, remove, toggle] as const
