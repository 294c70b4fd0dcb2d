import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { channelKeysOf } from '../../rules/actions/notify-team.ts'
import { dedupWindowsOf } from '../../rules/fire-rules.ts'
import type { DeliveryProgress } from '../../store/stores/delivery-store.ts'
import { actionStatuses, type FiringRow, type MailboxRow } from '../../store/stores/rule-store.ts'
import type { MethodParts } from '../parts.ts'
import { defineCall } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'
import { mailboxMessage, toMailboxMessage } from './teams.ts'

const firing = z.object({
  firing_id: z.string(),
  rule_id: z.string(),
  source: z.string(),
  event_id: z.string(),
  event: z.string(),
  outcome: z.string(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable().describe('The run whose event fired the rule.'),
  depth: z.number(),
  created_at: z.number(),
  actions: readonlyList(
    z.object({
      position: z.number(),
      action_id: z.string(),
      action_type: z.string(),
      status: z.enum(actionStatuses),
      reason: z.string().nullable(),
      detail: z.string().nullable(),
      run_id: z.string().nullable().describe('The run that the action started.'),
      dedup_left_ms: z
        .number()
        .describe('How long the action does not repeat for the same event; 0 if it may.'),
      updated_at: z.number(),
    }),
  ),
})
type ShownFiring = z.output<typeof firing>

const history = defineCall({
  name: 'rules.history',
  about: 'What recovery rules did: firings with the result of each action, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/rule-firings' },
  params: z.strictObject({
    rule_id: shortText.exactOptional(),
    event_id: shortText.exactOptional(),
    run_id: shortText.describe('The run whose event fired the rule.').exactOptional(),
    started_run_id: shortText.describe('A run that an action started.').exactOptional(),
    ...pageFields,
  }),
  result: z.object({ firings: readonlyList(firing), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...filter } = params
    const { rows, nextCursor } = await parts.store.listFirings(caller.tenant, filter, requestedPage(params))
    return { firings: await withWindows(caller.tenant, rows, parts), nextCursor }
  },
})

const channel = z.object({
  type: z.string().describe('webhook, slack or email.'),
  state: z
    .enum(['waiting', 'leased', 'dead', 'done'])
    .nullable()
    .describe('Null if the delivery is older than the record of deliveries.'),
  attempts: z.number(),
  last_error: z.string().nullable(),
})

/** More messages of one firing are not shown. */
const MAX_MESSAGES = 200

const show = defineCall({
  name: 'rules.firing',
  about: 'One firing: its cause, its actions, the messages that it sent, and how each delivery went.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/rule-firings/:firing_id' },
  params: z.strictObject({ firing_id: shortText }),
  result: z.object({
    firing,
    messages: readonlyList(mailboxMessage.extend({ deliveries: readonlyList(channel) })),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { tenant } = caller
    const { firing_id } = params
    const row = await parts.store.findFiring(tenant, firing_id)
    if (row === undefined) throw serverError('gateway.not_found', `firing not found: ${firing_id}`)
    const [shown] = await withWindows(tenant, [row], parts)
    if (shown === undefined) throw serverError('gateway.not_found', `firing not found: ${firing_id}`)
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
