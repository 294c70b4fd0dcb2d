import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { Store } from '../../store/store.ts'
import { type ApprovalRow, approvalStatuses } from '../../store/stores/approval-store.ts'
import { noSuchApproval } from '../approvals/approvals.ts'
import type { Caller } from '../auth/caller.ts'
import type { MethodParts } from '../parts.ts'
import { defineCall, type MethodCall } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

const approval = z.object({
  approval_id: z.string(),
  status: z.enum(approvalStatuses),
  event: z.string(),
  event_id: z.string(),
  hook_id: z.string().nullable(),
  hook_name: z.string().nullable(),
  agent: z.string().nullable(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable(),
  folder: z.string().nullable(),
  tool: z.string().nullable(),
  what: z.string().nullable().describe('What the call does, in one line.'),
  reason: z.string().describe('Why a person is asked.'),
  input: z.unknown().describe('The final arguments, after every rewrite.'),
  input_hash: z.string().describe('Equal for calls of the same event and tool with the same arguments.'),
  edited: z.unknown().describe('The arguments that a person wrote in place of `input`; null if none did.'),
  can_edit: z.boolean(),
  requested_by: z.string(),
  approvers_needed: z.number(),
  votes: readonlyList(
    z.object({
      verdict: z.enum(['approve', 'deny']),
      by: z.string(),
      from: z.string(),
      at: z.number(),
      message: z.string().exactOptional(),
    }),
  ),
  created_at: z.number(),
  deadline_at: z.number().describe('Then the call is denied.'),
  decided_at: z.number().nullable(),
  decided_by: z.string().nullable(),
  used_at: z.number().nullable().describe('When a call used the answer.'),
  granted_until: z
    .number()
    .nullable()
    .describe('Until then identical calls of the session are not asked about.'),
})

const approvalId = shortText.describe('The id of the approval: `apr_…`.')
const message = z.string().min(1).max(2_000)
const alike = z
  .boolean()
  .describe('Answers every pending request with the same arguments, of any session.')
  .exactOptional()

const list = defineCall({
  name: 'approvals.list',
  about: 'Requests for approval, newest first.',
  role: 'approver',
  rest: { verb: 'GET', path: '/v1/approvals' },
  params: z.strictObject({
    status: z.enum(approvalStatuses).exactOptional(),
    session_id: shortText.exactOptional(),
    ...pageFields,
  }),
  result: z.object({ approvals: readonlyList(approval), pending: z.number(), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    const { cursor: _, limit: __, ...filter } = params
    const [{ rows, nextCursor }, pending] = await Promise.all([
      store.listApprovals(caller.tenant, filter, requestedPage(params)),
      store.countPendingApprovals(caller.tenant),
    ])
    return { approvals: rows.map(toApproval), pending, nextCursor }
  },
})

const show = defineCall({
  name: 'approvals.show',
  about: 'One request for approval, with its answers.',
  role: 'approver',
  rest: { verb: 'GET', path: '/v1/approvals/:approval_id' },
  params: z.strictObject({ approval_id: approvalId }),
  result: z.object({ approval }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    return { approval: toApproval(await requireApproval(store, caller, params.approval_id)) }
  },
})

const approve = defineCall({
  name: 'approvals.approve',
  about: 'Lets exactly this call run, as it is or with edited arguments.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/approve' },
  params: z.strictObject({
    approval_id: approvalId,
    input: z
      .unknown()
      .describe('Replaces the whole arguments. The hooks see them again and may block them.')
      .optional(),
    grant_ms: z
      .number()
      .int()
      .min(1_000)
      .max(86_400_000)
      .describe('For this long, identical calls of the session are approved too.')
      .exactOptional(),
    message: message.exactOptional(),
    alike,
  }),
  result: z.object({ approvals: readonlyList(approval) }),
  needs: ['store', 'approvals', 'settings'],
  async run(call) {
    const { params } = call
    const { input, grant_ms, message: text } = params
    return answerAll(call, {
      verdict: 'approve',
      ...(input === undefined ? {} : { edited: input }),
      ...(grant_ms === undefined ? {} : { grant_ms }),
      ...(text === undefined ? {} : { message: text }),
    })
  },
})

const deny = defineCall({
  name: 'approvals.deny',
  about: 'Denies the call. The model sees the message.',
  role: 'approver',
  rest: { verb: 'POST', path: '/v1/approvals/:approval_id/deny' },
  params: z.strictObject({ approval_id: approvalId, message: message.exactOptional(), alike }),
  result: z.object({ approvals: readonlyList(approval) }),
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
  params: z.strictObject({ approval_id: approvalId }),
  result: z.object({ approval }),
  needs: ['store', 'approvals'],
  async run({ params, caller, parts }) {
    const ended = await parts.approvals.end(caller.tenant, params.approval_id, {
      status: 'cancelled',
      by: caller.name,
    })
    return { approval: toApproval(ended) }
  },
})

type AnswerCall = Pick<
  MethodCall<{ readonly approval_id: string; readonly alike?: boolean }, 'store' | 'approvals' | 'settings'>,
  'params' | 'caller' | 'parts' | 'address'
>
type Answer = Omit<Parameters<MethodParts['approvals']['answer']>[2], 'by' | 'from'>

/** At most this many identical requests are answered at once. */
const MAX_ALIKE = 500

async function answerAll({ params, caller, parts, address }: AnswerCall, answer: Answer) {
  const { store, approvals } = parts
  const first = await requireApproval(store, caller, params.approval_id)
  if (answer.edited !== undefined && !canEdit(first.event))
    throw serverError('gateway.request', `the arguments of ${first.event} cannot be edited`, { at: 'input' })
  const pending = { status: 'pending', input_hash: first.input_hash } as const
  const others =
    params.alike === true
      ? (await store.listApprovals(caller.tenant, pending, { limit: MAX_ALIKE })).rows.filter(
          ({ approval_id }) => approval_id !== first.approval_id,
        )
      : []
  const rows: ApprovalRow[] = []
  for (const row of [first, ...others]) {
    refuseOwn(row, caller, parts)
    const given = { ...answer, by: caller.name, from: address ?? 'unknown' }
    rows.push(await approvals.answer(caller.tenant, row.approval_id, given))
  }
  return { approvals: rows.map(toApproval) }
}

/** The token that sent a call must not permit it. */
function refuseOwn({ requested_by }: ApprovalRow, caller: Caller, { settings }: AnswerCall['parts']): void {
  if (requested_by === caller.name && !settings.of(caller.tenant).own_approvals)
    throw serverError('approval.own', 'the token that sent this call may not answer')
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

function toApproval({ tenant_id: _, ...row }: ApprovalRow): z.infer<typeof approval> {
  return { ...row, can_edit: canEdit(row.event) }
}

export const approvalMethods = [list, show, approve, deny, cancel] as const
