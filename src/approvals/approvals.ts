import { createHash, randomBytes } from 'node:crypto'
import { type Caller, LOGIN } from '../access/caller.ts'
import { errorText, HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { after, repeat } from '../engine/core/time/after.ts'
import { type Clock, isoTime, type Ticker } from '../engine/core/time/clock.ts'
import { tooSoon } from '../engine/core/time/retry-after.ts'
import { stableJson } from '../engine/core/values/stable-json.ts'
import type { Store } from '../store/store.ts'
import type { ApprovalStep, ApprovalSteps } from './approval-steps.ts'
import { isSameVoter } from './stored/approval-operations.ts'
import type {
  ApprovalAlert,
  ApprovalAnswer,
  ApprovalKey,
  ApprovalRow,
  RoutedApproval,
} from './stored/approval-tables.ts'

/** How long a caller can wait for a person. */
export interface ApprovalWait {
  /** Milliseconds from now. */
  readonly withinMs: number
  /** Called once, after the question is stored. */
  onPending(pending: PendingApproval): void
}

export interface PendingApproval {
  readonly approvalId: string
  /** Until when the caller waits: milliseconds since 1970. */
  readonly untilMs: number
  /** The caller no longer wants the answer: its question ends at once. */
  leave(): void
}

/** A question without what the service adds. */
export type CallQuestion = Omit<RoutedApproval, 'approval_id' | 'input_hash' | 'wait_ms'>

/** How a question ended for one caller. `waiting`: the caller's time is over, and the question is still open. */
export type ApprovalOutcome = Pick<ApprovalRow, 'status'> & {
  readonly approval: ApprovalRow
  readonly isWaiting: boolean
}

interface ApprovalParts {
  readonly store: Pick<
    Store,
    | 'requestApproval'
    | 'answerApproval'
    | 'endApproval'
    | 'useApproval'
    | 'releaseApprovals'
    | 'findApproval'
    | 'endedApprovals'
    | 'expireApprovals'
    | 'revokeGrant'
    | 'onApprovalHint'
  >
  readonly steps: ApprovalSteps
  /** Called after a question was asked or ended, so that people see it. */
  changed(): void
  /** Called when messages about a question were queued. */
  wakeDeliveries(): void
  readonly clock: Clock
  readonly log: Log
}

interface Waiter {
  readonly tenant: string
  readonly eventId: string
  /** Without an approval: another call has the answer, so this one asks anew. */
  settle(approval: ApprovalRow | undefined): void
  reject(error: Error): void
}

/** Hints of other nodes may be lost, so every node also looks by itself. */
const LOOK_MS = 1_000
const MAX_ENDED = 500
/** A caller that lost its connection, or whose node restarts, has this long to come back. Then its question is cancelled. */
const RETURN_MS = 5_000
/** A caller waits this much less at most, so that many callers share the length of their timers. */
const TIMER_STEP_MS = 100
/** Callers that may wait on one node. */
const MAX_WAITING = 10_000

type BoundCall = Pick<CallQuestion, 'event' | 'tool' | 'input' | 'agent' | 'folder' | 'approvers_needed'>

/**
 * The hash that binds an answer to a call. Another event, tool, argument, agent or folder is another call, and an answer for a
 * question that needs one person is none for a question that needs two.
 */
export function inputHash({ event, tool, input, agent, folder, approvers_needed }: BoundCall): string {
  return createHash('sha256')
    .update(stableJson([event, tool, input, agent, folder, approvers_needed]))
    .digest('hex')
}

/** Asks people about calls, one question per call, and wakes the callers that wait for their answers. */
export class Approvals {
  readonly #parts: ApprovalParts
  /** The caller that waits for each question. Whoever comes back on a new connection takes the place of the old one. */
  readonly #waiters = new Map<string, Waiter>()
  /** Questions whose last caller has left, with what stops their cancellation. */
  readonly #leaving = new Map<string, () => void>()
  readonly #ticker: Ticker
  readonly #unlisten: () => void
  #waiting = 0
  #isClosed = false

  constructor(parts: ApprovalParts) {
    this.#parts = parts
    this.#ticker = repeat(parts.clock, LOOK_MS, () => this.#look(), this.#logFailure)
    this.#unlisten = parts.store.onApprovalHint((approvalId) => {
      // The question has ended, or its caller waits on another node now.
      if (approvalId !== undefined) this.#stay(approvalId)
      for (const id of approvalId === undefined ? [...this.#waiters.keys()] : [approvalId]) {
        const waiter = this.#waiters.get(id)
        if (waiter !== undefined) this.#wake(waiter.tenant, id).catch(this.#logFailure)
      }
    })
  }

  /** The callers that wait on this node. */
  get waiting(): number {
    return this.#waiting
  }

  /** Rejects with `gateway.stopping` if the gateway ends first; the question stays. Rejects with `approval.budget`. */
  async ask(question: CallQuestion, given: ApprovalWait, signal?: AbortSignal): Promise<ApprovalOutcome> {
    if (this.#isClosed) throw stopping()
    if (this.#waiting >= MAX_WAITING)
      throw tooSoon('gateway.busy', `${this.#waiting} calls wait for a person`, LOOK_MS)
    const { store, clock, wakeDeliveries } = this.#parts
    const started = clock.elapsed()
    const requested = await store.requestApproval({
      ...question,
      approval_id: `apr_${randomBytes(8).toString('hex')}`,
      input_hash: inputHash(question),
      wait_ms: given.withinMs,
    })
    if (requested.approval === undefined) return this.#refuseOverBudget(question, requested)
    const { approval, isNew, expired } = requested
    await this.#recordExpired(expired)
    const { tenant_id, approval_id, status } = approval
    if (isNew) {
      await this.#record(tenant_id, approval_id, { step: 'requested', by: question.requested_by }, approval)
      if (question.messages?.length) wakeDeliveries()
    }
    if (status !== 'pending') return { status, approval, isWaiting: false }
    const left = () => ({ ...given, withinMs: given.withinMs - (clock.elapsed() - started) })
    return (await this.#wait(approval, left(), signal)) ?? this.ask(question, left(), signal)
  }

  find(tenant: string, approvalId: string): Promise<ApprovalRow | undefined> {
    return this.#parts.store.findApproval(tenant, approvalId)
  }

  /** Counts an answer and wakes the callers. Throws `approval.decided` if the question is no longer open. */
  async answer(tenant: string, approvalId: string, answer: ApprovalAnswer): Promise<ApprovalRow> {
    const { store, steps, changed } = this.#parts
    const result = await store.answerApproval(tenant, approvalId, answer)
    if (result === undefined) throw noSuchApproval(approvalId)
    const { approval } = result
    if (!result.counted) {
      const refusal = alreadyDecided(approval, answer)
      const { by, from, verdict } = answer
      await this.recordRefusal(approval, { by, from, message: `${verdict}: ${refusal.message}` })
      throw refusal
    }
    const step = answer.verdict === 'approve' ? 'approved' : 'denied'
    const { link_id: _, ...given } = answer
    // The person learns that it counted when both are done; the caller need not wait for the record.
    await Promise.all([
      steps.record(tenant, approvalId, { ...given, step }, approval),
      this.#deliver(approval),
    ])
    changed()
    return approval
  }

  /** Ends a pending question. Throws `approval.decided` if it is no longer open. */
  async end(
    tenant: string,
    approvalId: string,
    end: { readonly status: 'cancelled' | 'superseded'; readonly by: string },
  ): Promise<ApprovalRow> {
    const isEnded = await this.#parts.store.endApproval(tenant, approvalId, end)
    const approval = await this.find(tenant, approvalId)
    if (approval === undefined) throw noSuchApproval(approvalId)
    if (!isEnded) throw alreadyDecided(approval, end)
    await this.#record(tenant, approvalId, { step: end.status, by: end.by }, approval)
    await this.#wake(tenant, approvalId)
    return approval
  }

  /** Ends a grant. Throws `gateway.not_found` if none is in force. */
  async revoke(
    tenant: string,
    approvalId: string,
    by: Pick<ApprovalStep, 'by' | 'from'>,
  ): Promise<ApprovalRow> {
    const isRevoked = await this.#parts.store.revokeGrant(tenant, approvalId)
    const approval = await this.find(tenant, approvalId)
    if (approval === undefined) throw noSuchApproval(approvalId)
    if (!isRevoked) throw serverError('gateway.not_found', `no grant of ${approvalId} is in force`)
    await this.#record(tenant, approvalId, { ...by, step: 'revoked' }, approval)
    return approval
  }

  /** Records an attempt to answer that was refused before it reached the store. */
  recordRefusal(approval: ApprovalRow, attempt: Omit<ApprovalStep, 'step'>): Promise<void> {
    const { tenant_id, approval_id } = approval
    return this.#parts.steps.record(tenant_id, approval_id, { ...attempt, step: 'refused' }, approval)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#ticker.stop()
    this.#unlisten()
    for (const id of [...this.#leaving.keys()]) this.#stay(id)
    const open = [...this.#waiters.keys()]
    for (const waiter of [...this.#waiters.values()]) waiter.reject(stopping())
    await this.#parts.store.releaseApprovals(open).catch(this.#logFailure)
  }

  /** Records a step of a question, and shows it to people. */
  async #record(...step: Parameters<ApprovalSteps['record']>): Promise<void> {
    await this.#parts.steps.record(...step)
    this.#parts.changed()
  }

  /** Gives the answer to the caller that waits for it. The answer is then used: a later call asks anew. */
  async #deliver(approval: ApprovalRow): Promise<void> {
    const { tenant_id, approval_id, status } = approval
    const waiter = this.#waiters.get(approval_id)
    if (waiter === undefined || status === 'pending') return
    this.#waiters.delete(approval_id)
    const isAnswer = status === 'approved' || status === 'denied'
    try {
      const isIts = !isAnswer || (await this.#parts.store.useApproval(tenant_id, approval_id, waiter.eventId))
      waiter.settle(isIts ? approval : undefined)
    } catch (error) {
      // It waits on, and the next look tries again.
      if (!this.#waiters.has(approval_id)) this.#waiters.set(approval_id, waiter)
      throw error
    }
  }

  async #wake(tenant: string, approvalId: string): Promise<void> {
    if (!this.#waiters.has(approvalId)) return
    const approval = await this.find(tenant, approvalId)
    if (approval !== undefined) await this.#deliver(approval)
  }

  readonly #logFailure = (thrown: unknown): void => {
    this.#parts.log('approval.look_failed', { error: errorText(thrown) })
  }

  async #recordExpired(expired: readonly ApprovalKey[]): Promise<void> {
    for (const { tenant_id, approval_id } of expired) {
      const approval = await this.find(tenant_id, approval_id)
      await this.#record(tenant_id, approval_id, { step: 'expired', by: 'its deadline' }, approval)
    }
  }

  async #look(): Promise<void> {
    const { store } = this.#parts
    await this.#recordExpired(await store.expireApprovals(MAX_ENDED))
    const ids = [...this.#waiters.keys()]
    for (let start = 0; start < ids.length; start += MAX_ENDED) {
      const ended = await store.endedApprovals(ids.slice(start, start + MAX_ENDED))
      for (const { tenant_id, approval_id } of ended) await this.#wake(tenant_id, approval_id)
    }
  }

  #stay(approvalId: string): void {
    this.#leaving.get(approvalId)?.()
    this.#leaving.delete(approvalId)
  }

  /** Cancels a question whose last caller has left and does not come back: nothing would come of its answer. */
  #leave(tenant: string, approvalId: string): void {
    if (this.#waiters.has(approvalId) || this.#isClosed) return
    this.#stay(approvalId)
    const cancel = () => {
      this.#leaving.delete(approvalId)
      this.#cancelLeft(tenant, approvalId).catch(this.#logFailure)
    }
    this.#leaving.set(approvalId, after(this.#parts.clock, RETURN_MS, cancel))
  }

  async #cancelLeft(tenant: string, approvalId: string): Promise<void> {
    const end = { status: 'cancelled', by: 'the caller left' } as const
    if (!(await this.#parts.store.endApproval(tenant, approvalId, end))) return
    await this.#record(tenant, approvalId, { step: 'cancelled', by: end.by })
  }

  /** An alert in place of one question too many: people who are asked all day stop reading. */
  async #refuseOverBudget(
    { tenant_id, session_id, agent }: CallQuestion,
    { alert, isNew }: { readonly alert: ApprovalAlert; readonly isNew: boolean },
  ): Promise<never> {
    const text = overBudgetText(alert)
    if (isNew) {
      this.#parts.log('approval.budget', { tenant: tenant_id, session: session_id, agent, ...alert })
      const step = { step: 'over_budget', by: 'the budget of questions', message: text } as const
      await this.#record(tenant_id, undefined, step, { session_id, agent })
    }
    throw serverError('approval.budget', text)
  }

  /** Undefined if another call has the answer. */
  #wait(approval: ApprovalRow, given: ApprovalWait, signal: AbortSignal | undefined) {
    const { promise, resolve, reject } = Promise.withResolvers<ApprovalOutcome | undefined>()
    const { store, clock } = this.#parts
    const { tenant_id: tenant, approval_id: id, event_id: eventId } = approval
    const withinMs = timerStep(given.withinMs)
    let isOver = false
    const finish = (end: () => void) => {
      if (isOver) return
      isOver = true
      cancelTimer()
      this.#waiting -= 1
      signal?.removeEventListener('abort', abort)
      if (this.#waiters.get(id) === waiter) this.#waiters.delete(id)
      end()
    }
    const abort = () => {
      waiter.reject(callerLeft())
      this.#leave(tenant, id)
    }
    const abandon = () => {
      if (isOver) return
      waiter.reject(callerLeft())
      if (!this.#waiters.has(id)) this.#cancelLeft(tenant, id).catch(this.#logFailure)
    }
    const waiter: Waiter = {
      tenant,
      eventId,
      settle: (row) => finish(() => resolve(row && { status: row.status, approval: row, isWaiting: false })),
      reject: (error) => finish(() => reject(error)),
    }
    const cancelTimer = after(clock, withinMs, () =>
      finish(() => {
        const stillOpen = { status: 'pending', approval, isWaiting: true } as const
        store
          .releaseApprovals([id])
          .catch(this.#logFailure)
          .finally(() => resolve(stillOpen))
      }),
    )
    this.#waiters.get(id)?.reject(callerLeft())
    this.#waiters.set(id, waiter)
    this.#waiting += 1
    this.#stay(id)
    if (signal?.aborted) {
      abort()
      return promise
    }
    signal?.addEventListener('abort', abort, { once: true })
    const untilMs = Math.floor(clock.now() + withinMs)
    given.onPending({ approvalId: id, untilMs, leave: abandon })
    // The answer may have come between the question and this line.
    this.#wake(tenant, id).catch(this.#logFailure)
    return promise
  }
}

/** Timers of one length are one entry in Node's heap of timers, which every dispatch changes. */
function timerStep(ms: number): number {
  return Math.max(1, Math.floor(ms / TIMER_STEP_MS) * TIMER_STEP_MS)
}

function callerLeft(): HookError {
  return new HookError('engine.aborted', 'the caller left before a person answered')
}

function stopping(): HookError {
  return serverError('gateway.stopping', 'the gateway is stopping; the question stays open')
}

/**
 * Who sent a call must not permit it, with another token neither. A session of the login link that the gateway prints is a
 * person at this machine, so it may answer what the owner's programs ask.
 */
export function isOwnCall(
  { caller_id, member_id }: ApprovalRow,
  { id, member }: Partial<Pick<Caller, 'id' | 'member'>>,
): boolean {
  return caller_id === id || (member !== undefined && member === member_id && id !== LOGIN)
}

export function ownCall(): HookError {
  return serverError('approval.own', 'who sent this call may not answer')
}

export function noSuchApproval(approvalId: string): HookError {
  return serverError('gateway.not_found', `there is no approval ${approvalId.slice(0, 80)}`, {
    at: 'approval_id',
  })
}

export function overBudgetText({ scope, subject, questions }: ApprovalAlert): string {
  const agent = subject === '' ? 'An agent without a name' : `The agent ${subject}`
  const who = { session: `The ${subject}`, agent, tenant: 'This tenant' }[scope]
  return `${who} has asked people ${questions} times within an hour; further calls that need a person are blocked`
}

function alreadyDecided(
  approval: ApprovalRow,
  { link_id, edited: given, ...voter }: Pick<ApprovalAnswer, 'by' | 'member' | 'link_id' | 'edited'>,
): HookError {
  const { status, decided_by, decided_at, votes, edited } = approval
  if (status === 'pending' && votes.some((vote) => isSameVoter(vote, voter)))
    return serverError('approval.decided', 'you have answered; another person has to answer too')
  if (status === 'pending' && edited !== null && given === undefined)
    return serverError('approval.decided', 'its arguments were edited; approve the edited ones')
  if (status === 'pending' && link_id !== undefined)
    return serverError('approval.decided', 'this link was used, or its time is over')
  if (status === 'pending') return serverError('approval.decided', 'its deadline has passed')
  const when = decided_at === null ? '' : ` at ${isoTime(decided_at)}`
  return serverError('approval.decided', `it was ${status} by ${decided_by ?? 'its deadline'}${when}`)
}
