import { createHash, randomBytes } from 'node:crypto'
import { after } from '../../engine/core/after.ts'
import { type Clock, isoTime } from '../../engine/core/clock.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import type { Store } from '../../store/store.ts'
import type { ApprovalAnswer, ApprovalRow, NewApproval } from '../../store/stores/approval-store.ts'
import type { ApprovalSteps } from './approval-steps.ts'

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
}

/** A question without what the service adds. */
export type CallQuestion = Omit<NewApproval, 'approval_id' | 'input_hash'>

/** How a question ended for one caller. `waiting`: the caller's time is over, and the question is still open. */
export type ApprovalOutcome = Pick<ApprovalRow, 'status'> & {
  readonly approval: ApprovalRow
  readonly isWaiting: boolean
}

/** Asks people about calls, and wakes the callers that wait for their answers. */
export interface Approvals {
  /** Rejects with `gateway.stopping` if the gateway ends first; the question stays. */
  ask(question: CallQuestion, wait: ApprovalWait, signal?: AbortSignal): Promise<ApprovalOutcome>
  /** Counts an answer and wakes the callers. Throws `approval.decided` if the question is no longer open. */
  answer(tenant: string, approvalId: string, answer: ApprovalAnswer): Promise<ApprovalRow>
  /** Ends a pending question. Throws `approval.decided` if it is no longer open. */
  end(
    tenant: string,
    approvalId: string,
    end: { readonly status: 'cancelled' | 'superseded'; readonly by: string },
  ): Promise<ApprovalRow>
  /** The callers that wait on this node. */
  readonly waiting: number
  close(): void
}

interface ApprovalParts {
  readonly store: Pick<
    Store,
    | 'requestApproval'
    | 'answerApproval'
    | 'endApproval'
    | 'useApproval'
    | 'findApproval'
    | 'endedApprovals'
    | 'expireApprovals'
    | 'onApprovalHint'
  >
  readonly steps: ApprovalSteps
  /** Called after a question was asked or ended, so that people see it. */
  changed(): void
  readonly clock: Clock
  readonly log: Log
}

interface Waiter {
  readonly tenant: string
  settle(approval: ApprovalRow): void
  reject(error: Error): void
}

/** Hints of other nodes may be lost, so every node also looks by itself. */
const LOOK_MS = 1_000
const MAX_ENDED = 500

/** The hash that binds an answer to a call: another event, tool or argument is another call. */
export function inputHash({ event, tool, input }: Pick<CallQuestion, 'event' | 'tool' | 'input'>): string {
  return createHash('sha256')
    .update(stableJson([event, tool, input]))
    .digest('hex')
}

export function createApprovals(parts: ApprovalParts): Approvals {
  const { store, steps, clock, log } = parts
  const waiters = new Map<string, Set<Waiter>>()
  let isClosed = false

  /** Gives the answer to every caller that waits for it. The answer is then used: a later call asks anew. */
  const wake = async (tenant: string, approvalId: string): Promise<void> => {
    const approval = await store.findApproval(tenant, approvalId)
    if (approval === undefined || approval.status === 'pending') return
    const waiting = waiters.get(approvalId)
    if (waiting === undefined) return
    waiters.delete(approvalId)
    if (approval.status === 'approved' || approval.status === 'denied')
      await store.useApproval(tenant, approvalId)
    for (const waiter of waiting) waiter.settle(approval)
  }
  const wakeKnown = (approvalId: string): Promise<void> => {
    const [waiter] = waiters.get(approvalId) ?? []
    return waiter === undefined ? Promise.resolve() : wake(waiter.tenant, approvalId)
  }
  const logFailure = (thrown: unknown) => log('approval.look_failed', { error: errorText(thrown) })

  const look = async (): Promise<void> => {
    const expired = await store.expireApprovals(MAX_ENDED)
    for (const { tenant_id, approval_id } of expired) {
      const approval = await store.findApproval(tenant_id, approval_id)
      await steps.record(tenant_id, approval_id, { step: 'expired', by: 'its deadline' }, approval)
      parts.changed()
    }
    const ids = [...waiters.keys()]
    for (let start = 0; start < ids.length; start += MAX_ENDED) {
      const ended = await store.endedApprovals(ids.slice(start, start + MAX_ENDED))
      for (const { tenant_id, approval_id } of ended) await wake(tenant_id, approval_id)
    }
  }
  let isLooking = false
  const ticker = clock.every(LOOK_MS, () => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(logFailure)
      .finally(() => {
        isLooking = false
      })
  })
  ticker.hold(false)
  const unlisten = store.onApprovalHint((approvalId) => {
    const ids = approvalId === undefined ? [...waiters.keys()] : [approvalId]
    for (const id of ids) wakeKnown(id).catch(logFailure)
  })

  /** Cancels a question whose last caller has left: nothing would come of its answer. */
  const leave = async (tenant: string, approvalId: string): Promise<void> => {
    if (waiters.has(approvalId) || isClosed) return
    const end = { status: 'cancelled', by: 'the caller left' } as const
    if (!(await store.endApproval(tenant, approvalId, end))) return
    await steps.record(tenant, approvalId, { step: 'cancelled', by: end.by })
    parts.changed()
  }

  const wait = (approval: ApprovalRow, { withinMs }: ApprovalWait, signal: AbortSignal | undefined) =>
    new Promise<ApprovalOutcome>((resolve, reject) => {
      const { tenant_id: tenant, approval_id: id } = approval
      const finish = (end: () => void) => {
        cancelTimer()
        signal?.removeEventListener('abort', abort)
        const set = waiters.get(id)
        set?.delete(waiter)
        if (set?.size === 0) waiters.delete(id)
        end()
      }
      const abort = () =>
        finish(() => {
          leave(tenant, id).catch(logFailure)
          reject(new HookError('engine.aborted', 'the caller left before a person answered'))
        })
      const waiter: Waiter = {
        tenant,
        settle: (row) => finish(() => resolve({ status: row.status, approval: row, isWaiting: false })),
        reject: (error) => finish(() => reject(error)),
      }
      const cancelTimer = after(clock, Math.max(1, withinMs), () =>
        finish(() => resolve({ status: 'pending', approval, isWaiting: true })),
      )
      const set = waiters.get(id) ?? new Set()
      set.add(waiter)
      waiters.set(id, set)
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      // The answer may have come between the question and this line.
      wake(tenant, id).catch(logFailure)
    })

  return {
    async ask(question, given, signal) {
      if (isClosed) throw stopping()
      const started = clock.elapsed()
      const { approval, isNew } = await store.requestApproval({
        ...question,
        approval_id: `apr_${randomBytes(8).toString('hex')}`,
        input_hash: inputHash(question),
      })
      const { tenant_id, approval_id, status } = approval
      if (isNew) {
        await steps.record(tenant_id, approval_id, { step: 'requested', by: question.requested_by }, approval)
        parts.changed()
      }
      if (status === 'pending') {
        const left = given.withinMs - (clock.elapsed() - started)
        given.onPending({ approvalId: approval_id, untilMs: clock.now() + Math.max(1, left) })
        return wait(approval, { ...given, withinMs: left }, signal)
      }
      const isGrant = approval.used_at !== null
      if (!isGrant && !(await store.useApproval(tenant_id, approval_id)))
        return this.ask(question, given, signal)
      return { status, approval, isWaiting: false }
    },

    async answer(tenant, approvalId, answer) {
      const result = await store.answerApproval(tenant, approvalId, answer)
      if (result === undefined) throw noSuchApproval(approvalId)
      if (!result.counted) throw alreadyDecided(result.approval, answer.by)
      const { approval } = result
      const step = answer.verdict === 'approve' ? 'approved' : 'denied'
      await steps.record(tenant, approvalId, { ...answer, step }, approval)
      parts.changed()
      await wake(tenant, approvalId)
      return approval
    },

    async end(tenant, approvalId, end) {
      const isEnded = await store.endApproval(tenant, approvalId, end)
      const approval = await store.findApproval(tenant, approvalId)
      if (approval === undefined) throw noSuchApproval(approvalId)
      if (!isEnded) throw alreadyDecided(approval, end.by)
      await steps.record(tenant, approvalId, { step: end.status, by: end.by }, approval)
      parts.changed()
      await wake(tenant, approvalId)
      return approval
    },

    get waiting() {
      return [...waiters.values()].reduce((sum, set) => sum + set.size, 0)
    },

    close() {
      isClosed = true
      ticker.stop()
      unlisten()
      for (const set of [...waiters.values()]) for (const waiter of [...set]) waiter.reject(stopping())
    },
  }
}

function stopping(): HookError {
  return serverError('gateway.stopping', 'the gateway is stopping; the question stays open')
}

export function noSuchApproval(approvalId: string): HookError {
  return serverError('gateway.not_found', `there is no approval ${approvalId.slice(0, 80)}`, {
    at: 'approval_id',
  })
}

function alreadyDecided(approval: ApprovalRow, by: string): HookError {
  const { status, decided_by, decided_at, votes } = approval
  if (status === 'pending' && votes.some((vote) => vote.by === by))
    return serverError('approval.decided', 'you have answered; another person has to answer too')
  if (status === 'pending') return serverError('approval.decided', 'its deadline has passed')
  const when = decided_at === null ? '' : ` at ${isoTime(decided_at)}`
  return serverError('approval.decided', `it was ${status} by ${decided_by ?? 'its deadline'}${when}`)
}
