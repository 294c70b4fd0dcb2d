import { HookError } from '../core/error.ts'
import type { Pass } from '../core/guard-state.ts'
import { isThenable } from '../core/thenable.ts'
import { explainMatch } from '../match/explain.ts'
import type { MatchInput } from '../match/matcher.ts'
import { beside } from './beside.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch, Wait, Went } from './dispatch.ts'
import { mustSee } from './second-pass.ts'
import { fail, note, say } from './settle.ts'
import { subjectOf } from './subject.ts'
import { ticksFor } from './wheel.ts'

const GUARD_TICKS = ticksFor(5_000)

/** Everything that is asked before a hook runs: is it for this event, may it fire now. Then it runs. */
export function admit(dispatch: Dispatch, hook: CompiledHook): Went {
  const { role } = dispatch.track
  const second = dispatch.aside?.secondPass ?? false
  if (second && !mustSee(dispatch, hook)) return 'next'
  if (hook.shadow && role === 'decide') {
    beside(dispatch, hook, 'shadow')
    return 'next'
  }
  if (!matches(dispatch, hook)) return 'next'
  if (hook.tripped) return tripped(dispatch, hook)
  // In the second pass a hook that fired already was let through by its guards.
  if (hook.guards === undefined || (second && dispatch.aside?.passed.has(hook))) return dispatch.run(hook)
  return guard(dispatch, hook)
}

function matches(dispatch: Dispatch, hook: CompiledHook): boolean {
  const { matcher } = hook
  if (matcher.when === undefined) return true
  const { event, payload, envelope } = dispatch
  const input: MatchInput = { event, name: subjectOf(dispatch.track.plan.row, payload), payload, envelope }
  const protocol = dispatch.aside?.protocol
  if (protocol?.timed) protocol.reports.set(hook, explainMatch(matcher, input))
  try {
    return matcher.when(input)
  } catch (thrown) {
    return matchFailed(dispatch, hook, thrown)
  }
}

/** A condition that cannot be evaluated: on a gate the handler runs and decides, elsewhere the hook is skipped. */
function matchFailed(dispatch: Dispatch, hook: CompiledHook, thrown: unknown): boolean {
  const code = thrown instanceof HookError ? thrown.code : 'match.cel_eval'
  const reason = thrown instanceof HookError ? thrown.message : 'the condition could not be evaluated'
  dispatch.track.engine.log('match.failed', { event: dispatch.event, hook: hook.id, code, reason })
  if (dispatch.track.plan.row.mode === 'gate') return true
  note(dispatch, hook, { decision: 'skipped', code, reason })
  return false
}

function tripped(dispatch: Dispatch, hook: CompiledHook): Went {
  const reason = `${hook.id} failed too often and was switched off`
  const { plan, role } = dispatch.track
  const closes = plan.row.mode === 'gate' && role === 'decide' && hook.onError === 'block'
  note(dispatch, hook, { decision: closes ? 'block' : 'skipped', code: 'guard.breaker', reason })
  if (!closes) return 'next'
  say(dispatch).decide({ kind: 'block', reason }, hook.id, 'guard.breaker')
  return 'stop'
}

function guard(dispatch: Dispatch, hook: CompiledHook): Went {
  const { engine, plan } = dispatch.track
  try {
    const passes = engine.guards.take(hook.guards?.(dispatch.payload, dispatch) ?? [], engine.clock.now())
    if (isThenable(passes)) {
      if (plan.row.sync)
        return fail(dispatch, hook, 'error', 'guard.state', 'a synchronous event cannot wait')
      dispatch.wait(passes, GUARD_TICKS, guarding)
      return 'wait'
    }
    return guarded(dispatch, hook, passes)
  } catch (thrown) {
    return fail(dispatch, hook, 'error', 'guard.state', thrown)
  }
}

function guarded(dispatch: Dispatch, hook: CompiledHook, passes: readonly Pass[]): Went {
  const skip = passes.find((pass) => !pass.pass)
  if (skip === undefined || skip.pass) return dispatch.run(hook)
  // A spent quota or budget means nobody looked: on a gate that is a failure, not a skip.
  if (skip.code === 'guard.quota' || skip.code === 'guard.budget') {
    return fail(dispatch, hook, 'error', skip.code, skip.skip)
  }
  note(dispatch, hook, { decision: 'skipped', code: skip.code, reason: skip.skip })
  return 'next'
}

/** Waiting for the guard state. */
const guarding: Wait = {
  value(dispatch, value) {
    const { hook } = dispatch
    if (hook === undefined) return
    const answered = Array.isArray(value) && value.length > 0
    dispatch.proceed(
      answered ? guarded(dispatch, hook, value) : fail(dispatch, hook, 'error', 'guard.state', 'no verdict'),
    )
  },
  error(dispatch, thrown) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(fail(dispatch, hook, 'error', 'guard.state', thrown))
  },
  expire(dispatch) {
    const { hook } = dispatch
    if (hook !== undefined)
      dispatch.proceed(fail(dispatch, hook, 'error', 'guard.state', 'no verdict in time'))
  },
}
