import { callerKey } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import { abandon, isThenable } from '../core/values/thenable.ts'
import { guardKey } from '../guard/guard.ts'
import { ticksFor } from './deadline-timer.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import type { Dispatch, PendingStep } from './dispatch.ts'

const COUNT_TICKS = ticksFor(5_000)

/** Some events may be blocked only so many times in a row: an agent that cannot stop is worse than one that does. */
export function settleBlockStreak(dispatch: Dispatch): void {
  const { guards } = dispatch.resolved.engine
  try {
    const passes = guards.take([streakRequest(dispatch)])
    if (isThenable(passes)) return dispatch.wait(passes, COUNT_TICKS, awaitingCount)
    applyCount(dispatch, passes)
  } catch {
    applyCount(dispatch, undefined)
  }
}

function streakKey(dispatch: Dispatch): string {
  const { givenEnvelope, event } = dispatch
  return guardKey(givenEnvelope.tenant ?? '', callerKey(givenEnvelope) ?? '', event)
}

function streakRequest(dispatch: Dispatch): GuardRequest {
  const key = streakKey(dispatch)
  if (!countsAsBlock(dispatch.builder)) return { kind: 'end_streak', key }
  return { kind: 'streak', key, limit: dispatch.resolved.eventHooks.row.maxBlocksInARow ?? 0 }
}

/** An agent that cannot ask a person is blocked in place of the question, so both count. */
function countsAsBlock(builder: DecisionBuilder | null): builder is DecisionBuilder {
  return builder !== null && builder.kind !== 'allow'
}

/** Too many blocks in a row, or a guard state that cannot count them: the block is not applied. */
function applyCount(dispatch: Dispatch, passes: unknown): void {
  const { builder, event, givenEnvelope } = dispatch
  const pass = Array.isArray(passes) ? passes[0] : undefined
  if (countsAsBlock(builder) && pass?.pass !== true) {
    const { session } = givenEnvelope
    dispatch.resolved.engine.log('guard.streak', { event, hook: builder.by, session })
    builder.ignoreBlock('guard.streak')
    resetStreak(dispatch)
  }
  dispatch.finish()
}

/** Waiting for the count. */
const awaitingCount: PendingStep = {
  onValue: (dispatch, passes) => applyCount(dispatch, passes),
  onError: (dispatch) => applyCount(dispatch, undefined),
  onExpire: (dispatch) => applyCount(dispatch, undefined),
}

/** The agent was allowed to stop, so the next attempt starts a new count. */
function resetStreak(dispatch: Dispatch): void {
  const { guards } = dispatch.resolved.engine
  try {
    const passes = guards.take([{ kind: 'end_streak', key: streakKey(dispatch) }])
    if (isThenable(passes)) abandon(passes)
  } catch {
    // A guard state that cannot count has nothing to reset.
  }
}
