import { tellingArgument } from '../agents/translate/telling-argument.ts'
import { callerKey } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import type { ServerCode } from '../engine/core/errors/server-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { splitToolNames } from '../engine/match/tool-names.ts'
import type { Call, HandleCall } from '../pipeline/call.ts'
import type { CallerWait } from '../pipeline/caller-wait.ts'
import { answerOf, type DispatchAnswer } from '../pipeline/dispatch-answer.ts'
import { requestHash } from '../pipeline/once-per-key.ts'
import type { ResolveCall } from '../pipeline/resolve-call.ts'
import { messagesFor } from '../settings/approval-routes.ts'
import type { Settings } from '../settings/settings.ts'
import type { KnownHook } from '../stored-hooks/snapshots/snapshot.ts'
import type { ApprovalSteps } from './approval-steps.ts'
import { type ApprovalOutcome, type Approvals, type CallQuestion, inputHash } from './approvals.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

interface HoldParts {
  readonly approvals: Pick<Approvals, 'ask' | 'find'>
  readonly settings: Settings
  readonly steps: ApprovalSteps
  readonly resolve: ResolveCall
}

/** An edited input may be changed by a hook and asked about again, but not for ever. */
const MAX_ROUNDS = 3

/**
 * Turns `ask` into the answer of a person: the call is held until someone approves or denies it, for as long as its caller
 * can wait. A caller that cannot wait gets `ask` as it is, to ask by itself.
 */
export function holdForPerson(parts: HoldParts, next: HandleCall): HandleCall {
  return async (given) => {
    const call = given.request.approval_id === undefined ? given : await withItsKey(parts, given)
    const answer = await next(call)
    const { decision, eventId } = answer
    if (decision.kind !== 'ask') return answer
    const { wait, canAsk } = call.context
    const preapproving = preapprovedBy(call, decision)
    if (preapproving !== undefined) return preapprove(parts, call, answer, preapproving)
    if (wait === undefined) return canAsk === false ? answerOf(eventId, noWait(decision)) : answer
    if (askedBy(call, decision)?.ask === 'host' && wait.canAsk) return answer
    return hold(parts, next, { call, wait, answer, round: 1 })
  }
}

/**
 * A caller that comes back after its connection was lost gets the answer of its own event again, without a second record.
 * If the call or the caller is not the same, it is a new one.
 */
async function withItsKey({ approvals }: HoldParts, call: Call): Promise<Call> {
  const { event, payload, envelope, request, key } = call
  const { tenant } = envelope
  const found = await approvals.find(tenant, request.approval_id ?? '')
  if (key !== undefined) return { ...call, key: { ...key, isDurable: true } }
  if (found === undefined || found.caller_id !== call.caller.id) return call
  const hash = requestHash(event, payload, envelope)
  return { ...call, key: { tenant, key: found.event_id, hash, isDurable: true, isFound: true } }
}

/** One call that waits for a person. */
interface HeldCall {
  readonly call: Call
  readonly wait: CallerWait
  readonly answer: DispatchAnswer
  readonly round: number
}

async function hold(parts: HoldParts, next: HandleCall, held: HeldCall): Promise<DispatchAnswer> {
  const { call, wait, answer } = held
  const question = questionOf(held, parts.settings)
  const outcome = await parts.approvals.ask(question, wait, call.context.signal).catch(budgetRefusal)
  if ('kind' in outcome) return answerOf(answer.eventId, outcome)
  if (outcome.status !== 'approved') return answerOf(answer.eventId, refusal(outcome))
  const { edited } = outcome.approval
  if (edited === null || edited === undefined) return approvedAnswer(answer, outcome.approval)
  return passEdited(parts, next, held, { question, approval: outcome.approval })
}

/** The edit passes the hooks like any call: a hook may block it, or change it so that it is asked about anew. */
async function passEdited(
  parts: HoldParts,
  next: HandleCall,
  held: HeldCall,
  { question, approval }: { readonly question: CallQuestion; readonly approval: ApprovalRow },
): Promise<DispatchAnswer> {
  const { caller, row, request, payload, context } = held.call
  const { edited } = approval
  const { approval_id: _, envelope: { id: __, ...envelope } = {}, ...rest } = request
  const fields = isRecord(payload) ? payload : {}
  const changed = {
    ...{ ...rest, envelope },
    // A caller that comes back after a restart gets the same event.
    idempotency_key: `${held.answer.eventId}:edited`,
    payload: row.rewrites === undefined ? fields : { ...fields, [row.rewrites]: edited },
  }
  const { text: ___, ...again } = context
  const call = await parts.resolve(caller, changed, again)
  const answer = await next(call)
  const { decision, eventId } = answer
  if (decision.kind === 'block') return answer
  const input = decision.input ?? edited
  const approved = { ...question, input: edited }
  const isAsApproved =
    approversFor(call, decision) <= approval.approvers_needed &&
    inputHash({ ...approved, input }) === inputHash(approved)
  if (decision.kind === 'ask' && !isAsApproved) {
    if (held.round >= MAX_ROUNDS)
      return answerOf(eventId, refusal({ status: 'superseded', approval, isWaiting: false }))
    return hold(parts, next, { ...held, call, answer, round: held.round + 1 })
  }
  return approvedAnswer(answerOf(eventId, { ...decision, input, original: question.input }), approval)
}

/** A person has saved a hook that answers for calls like this one. */
async function preapprove(
  { steps }: HoldParts,
  { envelope: { tenant, session, agent, host } }: Call,
  { eventId, decision }: DispatchAnswer,
  { name }: KnownHook,
): Promise<DispatchAnswer> {
  const by = `the hook ${name ?? decision.granted?.granted_by[0] ?? ''}`
  const reason = `${by} allows calls like this`
  const about = { session_id: session ?? null, agent: agent ?? host ?? null, event_id: eventId }
  await steps.record(tenant, undefined, { step: 'preapproved', by, message: reason }, about)
  const { code: _, granted: __, ...rest } = decision
  return answerOf(eventId, { ...rest, kind: 'allow', grant: true, reason, message: reason })
}

function findHook({ hooks }: Call, id: string | undefined): KnownHook | undefined {
  return id === undefined || hooks === undefined || 'reason' in hooks ? undefined : hooks.snapshot.find(id)
}

/** The hook that asks for approval. */
function askedBy(call: Call, { by }: Decision): KnownHook | undefined {
  return findHook(call, by)
}

/**
 * The hook that answers the question in place of a person, who saved it. It does not answer for managed hooks, nor where two
 * people must approve.
 */
function preapprovedBy(call: Call, { granted }: Decision): KnownHook | undefined {
  if (granted === undefined) return undefined
  const mayAnswer = granted.asked_by.every((id) => {
    const asking = findHook(call, id)
    return asking !== undefined && asking.locked !== true && (asking.approvers ?? 1) === 1
  })
  if (!mayAnswer) return undefined
  return granted.granted_by.map((id) => findHook(call, id)).find((hook) => hook?.preapproves === true)
}

/** A caller that can neither wait for a person nor ask one gets no open question. */
function noWait({ by, reason = 'a hook asks for approval', ...decision }: Decision): Decision {
  const message = `this needs a person's approval, and the caller can neither wait nor ask (approval.no_wait): ${decision.message ?? reason}`
  return {
    ...{ kind: 'block', reason: message, message, code: 'approval.no_wait' },
    ...(by === undefined ? {} : { by }),
  }
}

function approversFor(call: Call, decision: Decision): number {
  return askedBy(call, decision)?.approvers ?? 1
}

function questionOf({ call, answer }: HeldCall, settings: Settings): CallQuestion {
  const { decision, eventId } = answer
  const { caller, event, row, envelope } = call
  const hook = askedBy(call, decision)
  const payload = isRecord(call.payload) ? call.payload : {}
  const input = decision.input ?? (row.rewrites === undefined ? payload : payload[row.rewrites])
  const tool = typeof payload.tool_name === 'string' ? (splitToolNames(payload.tool_name)[0] ?? null) : null
  const final = row.rewrites === undefined ? payload : { ...payload, [row.rewrites]: input }
  const { approval_timeout_ms, approval_routes = [], approval_budget } = settings.of(caller.tenant)
  const { per_session, per_agent, per_tenant } = approval_budget
  return {
    tenant_id: caller.tenant,
    event,
    event_id: eventId,
    hook_id: decision.by ?? null,
    hook_name: hook?.name ?? null,
    agent: envelope.agent ?? envelope.host ?? null,
    session_id: envelope.session ?? null,
    caller_key: callerKey({ ...envelope, ...call.context.process?.() }) ?? null,
    run_id: envelope.run ?? null,
    // Where the call is made, not where the session began: a relative path means something else there.
    folder: envelope.cwd ?? envelope.project ?? null,
    tool,
    what: tellingArgument(event, final) ?? null,
    reason: decision.message ?? decision.reason ?? 'a hook asks for approval',
    input: input ?? null,
    requested_by: caller.name,
    caller_id: caller.id,
    member_id: caller.member ?? null,
    approvers_needed: hook?.approvers ?? 1,
    within_ms: approval_timeout_ms,
    messages: messagesFor(approval_routes, hook?.routes),
    budget: {
      ...definedFields({ session: per_session, agent: per_agent, tenant: per_tenant }),
    },
  }
}

/** The decision for a call that no person is asked about, because too many were. */
function budgetRefusal(thrown: unknown): Decision {
  if (!isHookError(thrown) || thrown.code !== 'approval.budget') throw thrown
  return { kind: 'block', reason: thrown.message, message: thrown.message, code: thrown.code }
}

/** A person has permitted exactly this call, so the agent need not ask again. */
function approvedAnswer({ eventId, decision }: DispatchAnswer, approval: ApprovalRow): DispatchAnswer {
  const { code: _, ...rest } = decision
  const reason = `${namesOf(approval)} approved this (${approval.approval_id})`
  return answerOf(eventId, { ...rest, kind: 'allow', grant: true, reason, message: reason })
}

const refusals: Readonly<Record<Exclude<ApprovalRow['status'], 'approved'>, ServerCode>> = {
  pending: 'approval.pending',
  denied: 'approval.denied',
  expired: 'approval.expired',
  cancelled: 'approval.cancelled',
  superseded: 'approval.cancelled',
}

function refusal({ status, approval }: ApprovalOutcome): Decision {
  const code = status === 'approved' ? 'approval.cancelled' : refusals[status]
  const reason = refusalText({ ...approval, status })
  return {
    kind: 'block',
    reason,
    message: reason,
    code,
    ...(approval.hook_id === null ? {} : { by: approval.hook_id }),
  }
}

function refusalText(approval: ApprovalRow): string {
  const { approval_id: id, status, votes, reason } = approval
  const denial = votes.find(({ verdict }) => verdict === 'deny')
  if (status === 'denied') {
    const why = denial?.message === undefined ? '' : `: ${denial.message}`
    return `${denial?.by ?? 'A person'} denied this${why} (${id})`
  }
  if (status === 'pending')
    return `A person has to approve this and has not answered yet (${id}): ${reason}. Make the same call again after the answer.`
  if (status === 'expired') return `Nobody answered the request for approval in time (${id}): ${reason}`
  return `The request for approval was withdrawn (${id}): ${reason}`
}

function namesOf({ votes }: ApprovalRow): string {
  const names = votes.filter(({ verdict }) => verdict === 'approve').map(({ by }) => by)
  return names.length === 0 ? 'A person' : names.join(' and ')
}
