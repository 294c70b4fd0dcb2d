import type { Caller } from '../access/caller.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { nullable, numeric } from '../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { DAY_MS } from '../engine/guard/guard.ts'
import { defineCall, type MethodCall } from '../methods/method.ts'
import { jsonObject, pageFields, requestedPage, shortText } from '../methods/method-fields.ts'
import type { MethodParts } from '../methods/method-parts.ts'
import type { Store } from '../store/store.ts'
import { isOwnCall, noSuchApproval, ownCall } from './approvals.ts'
import { draftAllowingHook } from './draft-hook.ts'
import {
  type ApprovalAnswer,
  type ApprovalMessageRow,
  type ApprovalRow,
  approvalStatuses,
} from './stored/approval-tables.ts'

const approval = schema.object({
  approval_id: schema.text(),
  status: schema.choice(approvalStatuses),
  event: schema.text(),
  event_id: schema.text(),
  hook_id: nullable(schema.text()),
  hook_name: nullable(schema.text()),
  agent: nullable(schema.text()),
  session_id: nullable(schema.text()),
  run_id: nullable(schema.text()),
  folder: nullable(schema.text()),
  tool: nullable(schema.text()),
  what: nullable(schema.text('What the call does, in one line.')),
  reason: schema.text('Why a person is asked.'),
  input: schema.any('The final arguments, after every rewrite.'),
  input_hash: schema.text('Equal for calls of the same event, tool, arguments, agent and folder.'),
  edited: schema.any('The arguments that a person wrote in place of `input`; null if none did.'),
  can_edit: schema.boolean(),
  requested_by: schema.text(),
  approvers_needed: numeric(),
  votes: schema.list(
    schema.object({
      verdict: schema.choice(['approve', 'deny']),
      by: schema.text(),
      member: schema.optional(schema.text('The id of the member that voted.')),
      from: schema.text(),
      at: numeric(),
      message: schema.optional(schema.text()),
    }),
  ),
  created_at: numeric(),
  deadline_at: numeric('Then the call is denied.'),
  decided_at: nullable(numeric()),
  decided_by: nullable(schema.text()),
  used_at: nullable(numeric('When the call used the answer.')),
  identical: numeric('How many identical calls have a pending request, this one included.'),
  granted_until: nullable(numeric('Until then identical calls of the session are not asked about.')),
  messages: schema.list(
    schema.object({
      route: schema.text(),
      member: schema.optional(schema.text('The member of a team.')),
      state: schema.choice(['waiting', 'sending', 'sent', 'failed', 'not sent']),
      at: numeric('When it was sent or is due.'),
      attempts: numeric(),
      error: nullable(schema.text()),
    }),
    'How far the message to each route has come.',
  ),
})

const approvalId = shortText('The id of the approval: `apr_…`.')
const message = schema.text(undefined, { minLength: 1, maxLength: 2_000 })
/** At most this many identical requests are answered at once. */
const MAX_ALIKE = 500
const alike = schema.partial({
  alike: schema.boolean(
    'Answers the other pending requests for identical calls too, of any session. Otherwise an answer covers one call.',
  ),
  calls: schema.integer(1, MAX_ALIKE, 'With `alike`: at most this many calls in all, the oldest first.'),
})

const list = defineCall({
  name: 'approvals.list',
  about: 'Requests for approval, newest first.',
  role: 'approver',
  rest: { verb: 'GET', path: '/v1/approvals' },
  params: schema.object({
    ...schema.partial({
      status: schema.choice(approvalStatuses),
      session_id: shortText(),
      agent: shortText(),
      hook_id: shortText(),
      granted: schema.boolean('Those whose grant is in force.'),
    }),
    ...pageFields,
  }),
  result: schema.object({
    approvals: schema.list(approval),
    pending: numeric(),
    nextCursor: schema.text(),
  }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    const { cursor: _, limit: __, ...filter } = params
    const [{ rows, nextCursor }, pending] = await Promise.all([
      store.listApprovals(caller.tenant, filter, requestedPage(params)),
      store.countPendingApprovals(caller.tenant),
    ])
    return { approvals: await withMessages(store, caller, rows), pending, nextCursor }
  },
})

const show = defineCall({
  name: 'approvals.show',
  about: 'One request for approval, with its answers.',
  role: 'approver',
  rest: { verb: 'GET', path: '/v1/approvals/:approval_id' },
  params: schema.object({ approval_id: approvalId }),
  result: schema.object({ approval }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    const row = await requireApproval(store, caller, params.approval_id)
    return { approval: await withOwnMessages(store, caller, row) }
  },
})

const approve = defineCall({
  name: 'approvals.approve',
  about: 'Lets exactly this call run, as it is or with edited arguments.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/approve' },
  params: schema.object({
    approval_id: approvalId,
    ...schema.partial({
      input: schema.any(
        'Replaces the whole arguments. The hooks see them again and may block them. If someone else has edited them, `edited` of the request.',
      ),
      grant_ms: schema.integer(
        1_000,
        86_400_000,
        'For this long, identical calls of the session are approved too.',
      ),
      message: message,
    }),
    ...alike,
  }),
  result: schema.object({ approvals: schema.list(approval) }),
  needs: ['store', 'approvals', 'settings'],
  async run(call) {
    const { params } = call
    const { input, grant_ms, message: text } = params
    return answerAll(call, {
      verdict: 'approve',
      ...definedFields({ edited: input, grant_ms, message: text }),
    })
  },
})

const deny = defineCall({
  name: 'approvals.deny',
  about: 'Denies the call. The model sees the message.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/deny' },
  params: schema.object({ approval_id: approvalId, message: schema.optional(message), ...alike }),
  result: schema.object({ approvals: schema.list(approval) }),
  needs: ['store', 'approvals', 'settings'],
  async run(call) {
    const { message: text } = call.params
    return answerAll(call, { verdict: 'deny', ...(text === undefined ? {} : { message: text }) })
  },
})

const cancel = defineCall({
  name: 'approvals.cancel',
  about: 'Withdraws the request. The call is denied.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/cancel' },
  params: schema.object({ approval_id: approvalId }),
  result: schema.object({ approval }),
  needs: ['store', 'approvals'],
  async run({ params, caller, parts }) {
    const ended = await parts.approvals.end(caller.tenant, params.approval_id, {
      status: 'cancelled',
      by: caller.name,
    })
    return { approval: await withOwnMessages(parts.store, caller, ended) }
  },
})

const revoke = defineCall({
  name: 'approvals.revoke',
  about: 'Ends a grant: the next identical call of the session is asked about again.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/revoke' },
  params: schema.object({ approval_id: approvalId }),
  result: schema.object({ approval }),
  needs: ['store', 'approvals'],
  async run({ params, caller, parts, address }) {
    const by = { by: caller.name, from: address ?? 'unknown' }
    const revoked = await parts.approvals.revoke(caller.tenant, params.approval_id, by)
    return { approval: await withOwnMessages(parts.store, caller, revoked) }
  },
})

const draft = defineCall({
  name: 'approvals.draft',
  about:
    'Drafts a hook that allows calls like this one. Nothing is saved: review it, then pass it to hooks.create.',
  role: 'approver',
  rest: { verb: 'GET', path: '/v1/approvals/:approval_id/draft' },
  params: schema.object({
    approval_id: approvalId,
    for_ms: schema.optional(
      schema.integer(60_000, 365 * DAY_MS, 'How long the hook allows them; a day if omitted.'),
    ),
  }),
  result: schema.object({
    hook: jsonObject(),
    notes: schema.list(schema.text(), 'What the draft does not cover, or covers beyond this call.'),
  }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts: { store, clock } }) {
    const row = await requireApproval(store, caller, params.approval_id)
    return draftAllowingHook(row, clock.now() + (params.for_ms ?? DAY_MS))
  },
})

type AnswerCall = Pick<
  MethodCall<
    { readonly approval_id: string; readonly alike?: boolean; readonly calls?: number },
    'store' | 'approvals' | 'settings'
  >,
  'params' | 'caller' | 'parts' | 'address'
>
type Answer = Omit<ApprovalAnswer, 'by' | 'member' | 'from'>

async function answerAll({ params, caller, parts, address }: AnswerCall, answer: Answer) {
  const { store, approvals } = parts
  const first = await requireApproval(store, caller, params.approval_id)
  if (answer.edited !== undefined) assertEditFits(first, answer.edited)
  const ungrantable = whyNotGrantable(first)
  if (answer.grant_ms !== undefined && ungrantable !== undefined)
    throw serverError('gateway.request', ungrantable, { at: 'grant_ms' })
  const { grant_ms: _, ...withoutGrant } = answer
  const from = address ?? 'unknown'
  const give = async (row: ApprovalRow): Promise<ApprovalRow> => {
    const wanted = whyNotGrantable(row) === undefined ? answer : withoutGrant
    const given = { ...wanted, ...definedFields({ member: caller.member }), by: caller.name, from }
    await refuseOwn(row, given, caller, parts)
    return approvals.answer(caller.tenant, row.approval_id, given)
  }
  const rows = [await give(first)]
  // One that was decided meanwhile, or that this token sent, does not keep the others waiting.
  for (const row of params.alike === true ? await othersLike(first, params.calls, parts) : [])
    rows.push(...(await give(row).then((each) => [each], skipRefused)))
  return { approvals: await withMessages(store, caller, rows) }
}

/** The other pending requests for identical calls, the oldest first: those that a person saw, and not one that came since. */
async function othersLike(
  { tenant_id, approval_id, input_hash }: ApprovalRow,
  calls: number = MAX_ALIKE,
  { store }: Pick<MethodParts, 'store'>,
): Promise<readonly ApprovalRow[]> {
  const pending = { status: 'pending', input_hash } as const
  const { rows } = await store.listApprovals(tenant_id, pending, { limit: MAX_ALIKE })
  return rows
    .toReversed()
    .filter((row) => row.approval_id !== approval_id)
    .slice(0, calls - 1)
}

function skipRefused(thrown: unknown): readonly ApprovalRow[] {
  if (isHookError(thrown) && (thrown.code === 'approval.decided' || thrown.code === 'approval.own')) return []
  throw thrown
}

function assertEditFits({ event, input }: ApprovalRow, edited: unknown): void {
  if (!canEdit(event))
    throw serverError('gateway.request', `the arguments of ${event} cannot be edited`, { at: 'input' })
  if (kindOf(edited) !== kindOf(input))
    throw serverError('gateway.request', `input must be ${kindOf(input)}, as the arguments of the call are`, {
      at: 'input',
    })
}

function kindOf(value: unknown): string {
  if (isRecord(value)) return 'an object'
  return Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
}

/** A grant is for one session, and for what one person may permit. */
function whyNotGrantable({ session_id, approvers_needed }: ApprovalRow): string | undefined {
  if (session_id === null) return 'the call names no session, so a grant would have no limits'
  return approvers_needed > 1 ? 'several people must approve each call' : undefined
}

async function refuseOwn(
  row: ApprovalRow,
  { by, from, verdict }: ApprovalAnswer,
  caller: Caller,
  { settings, approvals }: AnswerCall['parts'],
): Promise<void> {
  if (!isOwnCall(row, caller) || settings.of(row.tenant_id).own_approvals) return
  const refusal = ownCall()
  await approvals.recordRefusal(row, { by, from, message: `${verdict}: ${refusal.message}` })
  throw refusal
}

async function requireApproval(
  store: Pick<Store, 'findApproval'>,
  { tenant }: Caller,
  approvalId: string,
): Promise<ApprovalRow> {
  const row = await store.findApproval(tenant, approvalId)
  if (row === undefined) throw noSuchApproval(approvalId)
  return row
}

function canEdit(event: string): boolean {
  return Object.hasOwn(catalogue, event) && catalogue[event as keyof typeof catalogue].rewrites !== undefined
}

async function withMessages(
  store: Pick<Store, 'listApprovalMessages' | 'countIdenticalApprovals'>,
  { tenant }: Caller,
  rows: readonly ApprovalRow[],
): Promise<readonly SchemaType<typeof approval>[]> {
  const ids = rows.map(({ approval_id }) => approval_id)
  const pending = rows.filter(({ status }) => status === 'pending')
  const hashes = [...new Set(pending.map(({ input_hash }) => input_hash))]
  const [sent, identical] = await Promise.all([
    store.listApprovalMessages(tenant, ids),
    store.countIdenticalApprovals(tenant, hashes),
  ])
  const messages = Map.groupBy(sent, (each) => each.approval_id)
  return rows.map(({ tenant_id: _, caller_id: __, member_id: ___, ...row }) => ({
    ...row,
    can_edit: canEdit(row.event),
    identical: row.status === 'pending' ? (identical[row.input_hash] ?? 0) : 0,
    messages: (messages.get(row.approval_id) ?? []).map(toMessage),
  }))
}

async function withOwnMessages(store: Store, caller: Caller, row: ApprovalRow) {
  const [only] = await withMessages(store, caller, [row])
  if (only === undefined) throw noSuchApproval(row.approval_id)
  return only
}

const messageStates = { waiting: 'waiting', leased: 'sending', dead: 'failed', done: 'sent' } as const

function toMessage({ key, state, due_at, updated_at, attempts, last_error }: ApprovalMessageRow) {
  const [route = '', member] = key.split('/')
  const isCancelled = state === 'done' && last_error !== null
  return {
    ...{ route, attempts, error: last_error, at: state === 'done' || state === 'dead' ? updated_at : due_at },
    ...(member === undefined ? {} : { member }),
    state: isCancelled ? ('not sent' as const) : messageStates[state],
  }
}

export const approvalMethods = [list, show, approve, deny, cancel, revoke, draft] as const
