import { isRecord } from '../core/check.ts'
import { errorText, HookError } from '../core/error.ts'
import { isErrorCode } from '../core/error-table.ts'
import type { Skip } from '../core/guard-state.ts'
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
  if (hook.guards === undefined || (second && dispatch.aside?.fired.has(hook))) return dispatch.run(hook)
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
    const requests = hook.guards?.(dispatch.payload, dispatch) ?? []
    const passes = engine.guards.take(requests, engine.clock.now())
    if (!isThenable(passes)) return guarded(dispatch, hook, passes)
    if (!plan.row.sync) {
      dispatch.wait(passes, GUARD_TICKS, guarding)
      return 'wait'
    }
    Promise.resolve(passes).then(undefined, () => {})
    return fail(dispatch, hook, 'error', 'guard.state', 'a synchronous event cannot wait')
  } catch (thrown) {
    return fail(dispatch, hook, 'error', 'guard.state', errorText(thrown))
  }
}

function guarded(dispatch: Dispatch, hook: CompiledHook, passes: unknown): Went {
  const verdict = readPasses(passes, hook.guardCount)
  if (verdict === 'unreadable') return fail(dispatch, hook, 'error', 'guard.state', 'answered no verdict')
  if (verdict === 'pass') {
    if (hook.vouches) dispatch.withAside().fired.add(hook)
    return dispatch.run(hook)
  }
  const { code, skip } = verdict
  // A spent quota or budget means nobody looked: on a gate that is a failure, not a skip.
  if (code === 'guard.quota' || code === 'guard.budget') return fail(dispatch, hook, 'error', code, skip)
  note(dispatch, hook, { decision: 'skipped', code, reason: skip })
  return 'next'
}

/** The state may live in another process, so its answer is read as a stranger's. */
function readPasses(passes: unknown, count: number): Skip | 'pass' | 'unreadable' {
  if (!Array.isArray(passes) || passes.length !== count) return 'unreadable'
  for (const pass of passes) {
    if (!isRecord(pass) || typeof pass.pass !== 'boolean') return 'unreadable'
    if (pass.pass) continue
    const { code, skip } = pass
    if (typeof skip !== 'string' || !isErrorCode(code)) return 'unreadable'
    return { pass: false, code, skip }
  }
  return 'pass'
}

/** Waiting for the guard state. */
const guarding: Wait = {
  value(dispatch, value) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(guarded(dispatch, hook, value))
  },
  error(dispatch, thrown) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(fail(dispatch, hook, 'error', 'guard.state', errorText(thrown)))
  },
  expire(dispatch) {
    const { hook } = dispatch
    if (hook !== undefined)
      dispatch.proceed(fail(dispatch, hook, 'error', 'guard.state', 'no verdict in time'))
  },
}
