import type { GuardRequest } from '../core/guard-state.ts'
import { isThenable } from '../core/thenable.ts'
import { guardKey } from '../guard/guard-key.ts'
import type { Dispatch, Wait } from './dispatch.ts'
import { ticksFor } from './wheel.ts'

const TICKS = ticksFor(5_000)

/** Some events may be blocked only so many times in a row: an agent that cannot stop is worse than one that does. */
export function settleStreak(dispatch: Dispatch): void {
  const { guards, clock } = dispatch.track.engine
  try {
    const passes = guards.take([request(dispatch)], clock.now())
    if (isThenable(passes)) return dispatch.wait(passes, TICKS, counting)
    end(dispatch, passes)
  } catch {
    end(dispatch, undefined)
  }
}

function keyOf(dispatch: Dispatch): string {
  const { tenant = '', session = '' } = dispatch.envelope
  return guardKey(tenant, session, dispatch.event)
}

function request(dispatch: Dispatch): GuardRequest {
  const key = keyOf(dispatch)
  if (dispatch.answer?.kind !== 'block') return { kind: 'end_streak', key }
  return { kind: 'streak', key, limit: dispatch.track.plan.row.maxBlocksInARow ?? 0 }
}

/** Too many blocks in a row, or nobody who can count them: the block is not applied. */
function end(dispatch: Dispatch, passes: unknown): void {
  const { answer, event, envelope } = dispatch
  const pass = Array.isArray(passes) ? passes[0] : undefined
  if (answer?.kind === 'block' && pass?.pass !== true) {
    dispatch.track.engine.log('guard.streak', { event, hook: answer.by, session: envelope.session })
    answer.ignore('guard.streak')
    startAnew(dispatch)
  }
  dispatch.finish()
}

const counting: Wait = {
  value: (dispatch, passes) => end(dispatch, passes),
  error: (dispatch) => end(dispatch, undefined),
  expire: (dispatch) => end(dispatch, undefined),
}

/** The agent was let go; the next time it wants to stop is a new story. */
function startAnew(dispatch: Dispatch): void {
  const { guards, clock } = dispatch.track.engine
  try {
    const passes = guards.take([{ kind: 'end_streak', key: keyOf(dispatch) }], clock.now())
    if (isThenable(passes)) Promise.resolve(passes).catch(() => {})
  } catch {
    // Whoever cannot count cannot forget either.
  }
}
