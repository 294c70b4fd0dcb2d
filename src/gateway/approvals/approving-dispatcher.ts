import { tellingArgument } from '../../agents/translate/telling-argument.ts'
import { isRecord } from '../../engine/core/check.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { isHookError } from '../../engine/core/error.ts'
import type { ServerCode } from '../../engine/core/server-errors.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createNameResolver } from '../../engine/events/event-names.ts'
import { splitToolNames } from '../../engine/match/tool-names.ts'
import type { ApprovalRow } from '../../store/stores/approval-store.ts'
import type { Caller } from '../auth/caller.ts'
import {
  answerOf,
  type DispatchAnswer,
  type Dispatcher,
  type DispatchRequest,
  type RequestContext,
} from '../dispatch/dispatcher.ts'
import type { Settings } from '../settings.ts'
import { messagesFor } from './approval-routes.ts'
import type { ApprovalSteps } from './approval-steps.ts'
import { type ApprovalOutcome, type Approvals, type CallQuestion, inputHash } from './approvals.ts'

interface ApprovingParts<D extends Dispatcher> {
  readonly dispatcher: D
  readonly approvals: Approvals
  readonly settings: Settings
  readonly steps: ApprovalSteps
}

/** An edited input may be changed by a hook and asked about again, but not for ever. */
const MAX_ROUNDS = 3

const resolveName = createNameResolver(catalogue)

/** One call that waits for a person. */
interface HeldCall {
  readonly caller: Caller
  readonly request: DispatchRequest
  readonly context: RequestContext & Required<Pick<RequestContext, 'wait'>>
  readonly answer: DispatchAnswer
  readonly round: number
}

/**
 * Turns `ask` into the answer of a person: the call is held until someone approves or denies it, for as long as its caller
 * can wait. A caller that cannot wait gets `ask` as it is, to ask by itself.
 */
export function createApprovingDispatcher<D extends Dispatcher>(parts: ApprovingParts<D>): D {
  const { dispatcher, approvals } = parts

  const hold = async (call: HeldCall): Promise<DispatchAnswer> => {
    const { answer, context } = call
    const question = questionOf(call, parts.settings)
    const outcome = await approvals.ask(question, context.wait, context.signal).catch(budgetRefusal)
    if ('kind' in outcome) return answerOf(answer.eventId, outcome)
    if (outcome.status !== 'approved') return answerOf(answer.eventId, refusal(outcome))
    const { edited } = outcome.approval
    if (edited === null || edited === undefined) return approvedAnswer(answer, outcome.approval)
    return dispatchEdited(call, question, outcome.approval)
  }

  /** The edit passes the hooks like any call: a hook may block it, or change it so that it is asked about anew. */
  const dispatchEdited = async (
    call: HeldCall,
    question: CallQuestion,
    approval: ApprovalRow,
  ): Promise<DispatchAnswer> => {
    const { caller, request, context } = call
    const { edited } = approval
    const key = catalogue[resolveName(request.event) as keyof typeof catalogue].rewrites
    const payload = isRecord(request.payload) ? request.payload : {}
    const {
      idempotency_key: _,
      approval_id: _again,
      envelope: { id: __, ...envelope } = {},
      ...rest
    } = request
    const changed = {
      ...rest,
      envelope,
      // A caller that comes back after a restart gets the same event.
      idempotency_key: `${call.answer.eventId}:edited`,
      payload: key === undefined ? payload : { ...payload, [key]: edited },
    }
    const { text: ___, ...again } = context
    const answer = await dispatcher.dispatch(caller, changed, again)
    const { decision, eventId } = answer
    if (decision.kind === 'block') return answer
    const input = decision.input ?? edited
    const approved = { ...question, input: edited }
    const isAsApproved =
      approversFor(answer) <= approval.approvers_needed &&
      inputHash({ ...approved, input }) === inputHash(approved)
    if (decision.kind === 'ask' && !isAsApproved) {
      if (call.round >= MAX_ROUNDS)
        return answerOf(eventId, refusal({ status: 'superseded', approval, isWaiting: false }))
      return hold({ ...call, request: changed, answer, round: call.round + 1 })
    }
    return approvedAnswer(answerOf(eventId, { ...decision, input, original: question.input }), approval)
  }

  /** A person has saved a hook that answers for calls like this one. */
  const preapprove = async (
    { tenant }: Caller,
    { envelope: { session, agent, host } = {} }: DispatchRequest,
    { eventId, decision, preapprovedBy }: DispatchAnswer,
  ): Promise<DispatchAnswer> => {
    const by = `the hook ${preapprovedBy?.name ?? decision.granted?.granted_by[0] ?? ''}`
    const reason = `${by} allows calls like this`
    const about = { session_id: session ?? null, agent: agent ?? host ?? null, event_id: eventId }
    await parts.steps.record(tenant, undefined, { step: 'preapproved', by, message: reason }, about)
    const { code: _, granted: __, ...rest } = decision
    return answerOf(eventId, { ...rest, kind: 'allow', grant: true, reason, message: reason })
  }

  /**
   * A caller that comes back after its connection was lost gets the answer of its own event again, without a second record.
   * If the call is not the same, it is a new one.
   */
  const dispatchOnce: Dispatcher['dispatch'] = async (caller, given, context) => {
    const { approval_id, ...request } = given
    if (approval_id === undefined) return dispatcher.dispatch(caller, request, context)
    const { event_id } = (await approvals.find(caller.tenant, approval_id)) ?? {}
    const key = request.idempotency_key ?? request.envelope?.id ?? event_id
    if (key === undefined) return dispatcher.dispatch(caller, request, context)
    try {
      return await dispatcher.dispatch(caller, { ...request, idempotency_key: key }, context)
    } catch (thrown) {
      if (!isHookError(thrown) || thrown.code !== 'gateway.conflict' || key !== event_id) throw thrown
      return dispatcher.dispatch(caller, request, context)
    }
  }

  return {
    ...dispatcher,
    async dispatch(caller, request, context = {}) {
      const answer = await dispatchOnce(caller, request, context)
      const { wait, canAsk } = context
      if (answer.decision.kind !== 'ask') return answer
      if (answer.preapprovedBy !== undefined) return preapprove(caller, request, answer)
      if (wait === undefined) return canAsk === false ? answerOf(answer.eventId, noWait(answer)) : answer
      if (answer.askedBy?.ask === 'host' && wait.canAsk) return answer
      return hold({ caller, request, context: { ...context, wait }, answer, round: 1 })
    },
  }
}

/** A caller that can neither wait for a person nor ask one gets no open question. */
function noWait({ decision }: DispatchAnswer): Decision {
  const { by, reason = 'a hook asks for approval' } = decision
  const message = `this needs a person's approval, and the caller can neither wait nor ask (approval.no_wait): ${decision.message ?? reason}`
  return {
    ...{ kind: 'block', reason: message, message, code: 'approval.no_wait' },
    ...(by === undefined ? {} : { by }),
  }
}

function approversFor({ askedBy }: DispatchAnswer): number {
  return askedBy?.approvers ?? 1
}

function questionOf({ caller, request, answer }: HeldCall, settings: Settings): CallQuestion {
  const { decision, eventId, askedBy } = answer
  const event = resolveName(request.event) as keyof typeof catalogue
  const payload = isRecord(request.payload) ? request.payload : {}
  const key = catalogue[event].rewrites
  const input = decision.input ?? (key === undefined ? payload : payload[key])
  const { envelope = {} } = request
  const tool = typeof payload.tool_name === 'string' ? (splitToolNames(payload.tool_name)[0] ?? null) : null
  const final = key === undefined ? payload : { ...payload, [key]: input }
  const { approval_timeout_ms, approval_routes = [], approval_budget } = settings.of(caller.tenant)
  const { per_session, per_agent, per_tenant } = approval_budget
  return {
    tenant_id: caller.tenant,
    event,
    event_id: eventId,
    hook_id: decision.by ?? null,
    hook_name: askedBy?.name ?? null,
    agent: envelope.agent ?? envelope.host ?? null,
    session_id: envelope.session ?? null,
    run_id: envelope.run ?? null,
    // Where the call is made, not where the session began: a relative path means something else there.
    folder: envelope.cwd ?? envelope.project ?? null,
    tool,
    what: tellingArgument(event, final) ?? null,
    reason: decision.message ?? decision.reason ?? 'a hook asks for approval',
    input: input ?? null,
    requested_by: caller.name,
    approvers_needed: approversFor(answer),
    within_ms: approval_timeout_ms,
    messages: messagesFor(approval_routes, askedBy?.routes),
    budget: {
      ...(per_session === undefined ? {} : { session: per_session }),
      ...(per_agent === undefined ? {} : { agent: per_agent }),
      ...(per_tenant === undefined ? {} : { tenant: per_tenant }),
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
