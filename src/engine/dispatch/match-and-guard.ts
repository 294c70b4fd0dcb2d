import { isRecord } from '../core/check.ts'
import { errorText, HookError } from '../core/error.ts'
import { isErrorCode } from '../core/error-table.ts'
import type { Skip } from '../core/guard-state.ts'
import { isThenable } from '../core/thenable.ts'
import { evaluateConditions } from '../match/explain-match.ts'
import type { MatchInput } from '../match/match-part.ts'
import { applyFailure } from './apply-result.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { ticksFor } from './deadline-timer.ts'
import { builderOf } from './decision-builder.ts'
import { startDetached } from './detached.ts'
import type { Dispatch, PendingStep, StepOutcome } from './dispatch.ts'
import { subjectOf } from './event-hooks.ts'
import { recordExecution } from './execution-log.ts'
import { mustSeeInput } from './rewrite-input.ts'

const GUARD_TICKS = ticksFor(5_000)

/** Runs a hook if its conditions match and its guards let it fire. */
export function matchAndGuard(dispatch: Dispatch, hook: CompiledHook): StepOutcome {
  const { role } = dispatch.resolved
  const secondPass = dispatch.extras?.secondPass ?? false
  if (secondPass && !mustSeeInput(dispatch, hook)) return 'next'
  if (hook.shadow && role === 'decide') {
    startDetached(dispatch, hook, 'shadow')
    return 'next'
  }
  if (!conditionsHold(dispatch, hook)) return 'next'
  if (hook.tripped) return applyTripped(dispatch, hook)
  // In the second pass the guards of a hook that has fired are not asked again.
  if (hook.guards === undefined || (secondPass && dispatch.extras?.firedHooks.has(hook)))
    return dispatch.run(hook)
  return askGuards(dispatch, hook)
}

/** The tool name has been matched when the hooks were resolved; this evaluates the other conditions. */
function conditionsHold(dispatch: Dispatch, hook: CompiledHook): boolean {
  const { matcher } = hook
  if (matcher.when === undefined) return true
  const { event, payload, envelope } = dispatch
  const name = subjectOf(dispatch.resolved.eventHooks.row, payload)
  const input: MatchInput = { event, name, payload, envelope }
  const log = dispatch.extras?.log
  if (log?.timed) {
    const report = evaluateConditions(matcher, input)
    log.matchReports.set(hook, report)
    return report.result === 'failed'
      ? conditionFailed(dispatch, hook, report.error)
      : report.result === 'matched'
  }
  try {
    return matcher.when(input)
  } catch (thrown) {
    return conditionFailed(dispatch, hook, thrown)
  }
}

/** A condition that cannot be evaluated: on a gate the handler runs and decides, elsewhere the hook is skipped. */
function conditionFailed(dispatch: Dispatch, hook: CompiledHook, thrown: unknown): boolean {
  const code = thrown instanceof HookError ? thrown.code : 'match.cel_eval'
  const reason = thrown instanceof HookError ? thrown.message : 'the condition could not be evaluated'
  dispatch.resolved.engine.log('match.failed', { event: dispatch.event, hook: hook.id, code, reason })
  if (dispatch.resolved.eventHooks.row.mode === 'gate') return true
  recordExecution(dispatch, hook, { decision: 'skipped', code, reason })
  return false
}

function applyTripped(dispatch: Dispatch, hook: CompiledHook): StepOutcome {
  const reason = `${hook.id} failed too often and was switched off`
  const { eventHooks, role } = dispatch.resolved
  const blocks = eventHooks.row.mode === 'gate' && role === 'decide' && hook.onError === 'block'
  recordExecution(dispatch, hook, { decision: blocks ? 'block' : 'skipped', code: 'guard.breaker', reason })
  if (!blocks) return 'next'
  builderOf(dispatch).decide({ kind: 'block', reason }, hook.id, 'guard.breaker')
  return 'stop'
}

function askGuards(dispatch: Dispatch, hook: CompiledHook): StepOutcome {
  const { engine, eventHooks } = dispatch.resolved
  try {
    const requests = hook.guards?.(dispatch.payload, dispatch) ?? []
    const passes = engine.guards.take(requests)
    if (!isThenable(passes)) return applyPasses(dispatch, hook, passes)
    if (!eventHooks.row.sync) {
      dispatch.wait(passes, GUARD_TICKS, awaitingGuards)
      return 'wait'
    }
    Promise.resolve(passes).then(undefined, () => {})
    return applyFailure(dispatch, hook, 'error', 'guard.state', 'a synchronous event cannot wait')
  } catch (thrown) {
    return applyFailure(dispatch, hook, 'error', 'guard.state', errorText(thrown))
  }
}

function applyPasses(dispatch: Dispatch, hook: CompiledHook, passes: unknown): StepOutcome {
  const verdict = readPasses(passes, hook.guardCount)
  if (verdict === 'unreadable')
    return applyFailure(dispatch, hook, 'error', 'guard.state', 'answered no verdict')
  if (verdict === 'pass') {
    if (hook.seesFinalInput) dispatch.withExtras().firedHooks.add(hook)
    return dispatch.run(hook)
  }
  const { code, skip } = verdict
  // Without quota or budget the call is not checked: on a gate that is a failure, not a skip.
  if (code === 'guard.quota' || code === 'guard.budget')
    return applyFailure(dispatch, hook, 'error', code, skip)
  recordExecution(dispatch, hook, { decision: 'skipped', code, reason: skip })
  return 'next'
}

/** The guard state may live in another process, so its answer is checked. */
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
const awaitingGuards: PendingStep = {
  onValue(dispatch, value) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(applyPasses(dispatch, hook, value))
  },
  onError(dispatch, thrown) {
    guardsFailed(dispatch, errorText(thrown))
  },
  onExpire(dispatch) {
    guardsFailed(dispatch, 'no verdict in time')
  },
}

function guardsFailed(dispatch: Dispatch, reason: string): void {
  const { hook } = dispatch
  if (hook !== undefined) dispatch.proceed(applyFailure(dispatch, hook, 'error', 'guard.state', reason))
}
