import { isAbsolute } from 'node:path'
import { type Caller, reaches } from '../../access/caller.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { outcomes } from '../../engine/core/hook.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { recordedInput } from '../../history/record/recorded-input.ts'
import { defineCall } from '../../methods/method.ts'
import { jsonObject, shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { isCatalogueName } from '../../stored-hooks/saving/effective-hooks.ts'
import type { HookChainEvent } from '../compile-rules.ts'
import { resolveTrigger, storedGroup } from '../files/recovery-rules.ts'
import { simulateRules } from '../simulate-rules.ts'
import { ruleEvent } from '../trigger-rules.ts'
import { checkRule, groupsFor } from './rule-methods.ts'

const simulated = schema.object({
  id: schema.text(),
  source: schema.text(),
  enabled: schema.boolean(),
  matches: schema.boolean(),
  unmet: schema.optional(
    schema.object(
      { condition: schema.text(), wanted: schema.any(), actual: schema.any() },
      'The first condition that fails.',
    ),
  ),
  guard: schema.optional(schema.text('What would keep the rule from firing now.')),
  actions: schema.list(
    schema.object({
      id: schema.text(),
      type: schema.text(),
      skipped: schema.optional(schema.text('Why it would be skipped; absent if it would run.')),
      would: schema.text(),
    }),
  ),
})
/** What a rule would make of an event. */
export type SimulatedRule = SchemaType<typeof simulated>

const params = schema.object(
  schema.partial({
    event: shortText('Any spelling of an event, or hook_failure. Needed unless `event_id` is given.'),
    event_id: shortText('A recorded event, in place of `event` and `payload`; needs the role operator.'),
    outcome: schema.choice(outcomes, 'That of the event itself if omitted.'),
    payload: jsonObject(),
    depth: schema.integer(0, 100, 'That of the recorded event, or 0, if omitted.'),
    folder: shortText(
      'Includes the files of this folder of the gateway; that of the recorded event if omitted.',
    ),
    rule: jsonObject('A rule that is not saved; it alone is simulated.'),
  }),
)
type SimulateParams = SchemaType<typeof params>

const simulate = defineCall({
  name: 'rules.simulate',
  about: 'Tells which recovery rules an event would fire, and why the others would not. Nothing happens.',
  role: 'viewer',
  rest: { verb: 'POST', path: '/v1/rules/simulate' },
  params,
  result: schema.object({
    event: schema.text(),
    outcome: schema.choice(outcomes),
    enabled: schema.boolean('Whether rules may fire: the setting `rules_enabled`.'),
    rules: schema.list(simulated),
  }),
  needs: ['store', 'rules', 'settings', 'edition', 'defaultTenant', 'handlers', 'shell'],
  async run({ params: given, caller, parts }) {
    const { tenant } = caller
    const { rules_enabled, rules_max_chain_depth } = parts.settings.of(tenant)
    const draft =
      given.rule === undefined
        ? undefined
        : storedGroup([checkRule(given.rule, parts)], rules_max_chain_depth)
    const cause = await simulatedCause(given, caller, parts)
    const event = given.outcome === undefined ? cause.event : { ...cause.event, outcome: given.outcome }
    const groups =
      draft === undefined ? await groupsFor(caller, given.folder ?? cause.folder, parts) : [draft]
    const depth = given.depth ?? cause.depth
    const rules = await simulateRules(parts.store, groups, { tenant, event, depth })
    return { event: event.eventName, outcome: event.outcome, enabled: rules_enabled === true, rules }
  },
})

interface SimulatedCause {
  readonly event: HookChainEvent
  readonly depth: number
  readonly folder?: string
}

async function simulatedCause(
  { event, event_id, payload = {}, outcome }: SimulateParams,
  caller: Caller,
  parts: Pick<MethodParts, 'store' | 'shell'>,
): Promise<SimulatedCause> {
  if ((event === undefined) === (event_id === undefined))
    throw serverError('gateway.request', 'send either event or event_id')
  if (event_id !== undefined) return recordedCause(event_id, caller, parts)
  const given = ruleEvent({
    ...{ event: resolveTrigger(event ?? ''), payload, hasHooks: false, decision: { kind: 'allow' } },
    envelope: { id: 'simulated', tenant: caller.tenant, ...(outcome === undefined ? {} : { outcome }) },
  })
  return { event: given, depth: 0 }
}

/** The event as rules saw it when it was dispatched. */
async function recordedCause(
  eventId: string,
  { tenant, role }: Caller,
  { store, shell }: Pick<MethodParts, 'store' | 'shell'>,
): Promise<SimulatedCause> {
  if (!reaches(role, 'operator'))
    throw serverError('auth.scope', 'simulating a recorded event needs the role operator')
  const found = await store.findEvent(tenant, eventId)
  const request: unknown = found?.request === undefined ? undefined : JSON.parse(found.request)
  const input =
    found !== undefined && isCatalogueName(found.event)
      ? recordedInput(found.event, request, found, shell)
      : undefined
  if (found === undefined || input === undefined)
    throw serverError('gateway.not_found', `event not found: ${eventId}`)
  const answer: unknown = found.answer === undefined ? undefined : JSON.parse(found.answer)
  const { envelope, payload } = input
  const event = ruleEvent({
    ...{ event: found.event, payload, decision: decisionOf(answer), hasHooks: hadHooks(answer) },
    envelope: { ...envelope, id: eventId, tenant },
  })
  const folder = envelope.cwd !== undefined && isAbsolute(envelope.cwd) ? { folder: envelope.cwd } : {}
  return { event, depth: envelope.depth ?? 0, ...folder }
}

/** Only whether the event was blocked matters to rules. */
function decisionOf(answer: unknown): Decision {
  const { decision } = isRecord(answer) ? answer : {}
  const isBlocked = isRecord(decision) && decision.kind === 'block'
  return { kind: isBlocked ? 'block' : 'allow' }
}

function hadHooks(answer: unknown): boolean {
  const { trace } = isRecord(answer) ? answer : {}
  return isRecord(trace) && Array.isArray(trace.hooks) && trace.hooks.length > 0
}

export const ruleSimulationMethods = [simulate] as const
