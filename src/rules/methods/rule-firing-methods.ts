import { type DeliveryProgress, deliveryStates } from '../../deliveries/delivery-table.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { found, pageFields, requestedPage, shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields } from '../../methods/row-fields.ts'
import { mailboxMessage, toMailboxMessage } from '../../teams/team-methods.ts'
import type { MailboxRow } from '../../teams/team-tables.ts'
import { channelKeysOf } from '../actions/notify-team.ts'
import { dedupWindowsOf } from '../fire-rules.ts'
import { type FiringRow, ruleActions, ruleFirings } from '../stored/rule-tables.ts'

const firing = schema.object({
  ...rowFields(ruleFirings, ['tenant_id', 'content'], { run_id: 'The run whose event fired the rule.' }),
  actions: schema.list(
    schema.object({
      ...rowFields(ruleActions, [], { run_id: 'The run that the action started.' }),
      dedup_left_ms: numeric('How long the action does not repeat for the same event; 0 if it may.'),
    }),
  ),
})
type ShownFiring = SchemaType<typeof firing>

const filter = schema.object(
  schema.partial({
    rule_id: shortText(),
    event_id: shortText(),
    run_id: shortText('The run whose event fired the rule.'),
    started_run_id: shortText('A run that an action started.'),
  }),
)
export type FiringFilter = SchemaType<typeof filter>

const history = defineCall({
  name: 'rules.history',
  about: 'What recovery rules did: firings with the result of each action, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/rule-firings' },
  params: schema.object({ ...filter.fields, ...pageFields }),
  result: schema.object({ firings: schema.list(firing), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...wanted } = params
    const { rows, nextCursor } = await parts.store.listFirings(caller.tenant, wanted, requestedPage(params))
    return { firings: await withWindows(caller.tenant, rows, parts), nextCursor }
  },
})

const channel = schema.object({
  type: schema.text('webhook, slack or email.'),
  state: nullable(
    schema.choice(deliveryStates, 'Null if the delivery is older than the record of deliveries.'),
  ),
  attempts: numeric(),
  last_error: nullable(schema.text()),
})

/** More messages of one firing are not shown. */
const MAX_MESSAGES = 200

const show = defineCall({
  name: 'rules.firing',
  about: 'One firing: its cause, its actions, the messages that it sent, and how each delivery went.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/rule-firings/:firing_id' },
  params: schema.object({ firing_id: shortText() }),
  result: schema.object({
    firing,
    messages: schema.list(schema.object({ ...mailboxMessage.fields, deliveries: schema.list(channel) })),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { tenant } = caller
    const { firing_id } = params
    const row = await parts.store.findFiring(tenant, firing_id)
    const [first] = await withWindows(tenant, row === undefined ? [] : [row], parts)
    const shown = found(first, 'firing', firing_id)
    const { rows } = await parts.store.listMailbox(tenant, { firing_id }, { limit: MAX_MESSAGES })
    const progress = await parts.store.findDeliveries(tenant, rows.flatMap(channelKeysOf))
    const byKey = new Map(progress.map((each) => [each.dedup_key, each]))
    const messages = rows.map((message) => ({
      ...toMailboxMessage(message),
      deliveries: deliveriesOf(message, byKey),
    }))
    return { firing: shown, messages: messages.toReversed() }
  },
})

function deliveriesOf(message: MailboxRow, byKey: ReadonlyMap<string, DeliveryProgress>) {
  const { channels } = toMailboxMessage(message)
  const keys = channelKeysOf(message)
  return channels.map((type, index) => {
    const { state = null, attempts = 0, last_error = null } = byKey.get(keys[index] ?? '') ?? {}
    return { type, state, attempts, last_error }
  })
}

/** The firings without their content, with the dedup windows that still go on. */
async function withWindows(
  tenant: string,
  rows: readonly FiringRow[],
  { store }: Pick<MethodParts, 'store'>,
): Promise<readonly ShownFiring[]> {
  const windows = new Map(rows.map((row) => [row.firing_id, dedupWindowsOf(row)]))
  const left = await store.readWindows(tenant, [...windows.values()].flat())
  return rows.map(({ tenant_id: _, content, actions, ...row }) => ({
    ...row,
    actions: actions.map((action) => {
      const key = windows.get(row.firing_id)?.[action.position]?.key
      return { ...action, dedup_left_ms: key === undefined ? 0 : (left[key] ?? 0) }
    }),
  }))
}

export const ruleFiringMethods = [history, show] as const
