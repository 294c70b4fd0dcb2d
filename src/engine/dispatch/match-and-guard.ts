import type { Failure } from '../core/decision.ts'
import { errorText, HookError } from '../core/errors/error.ts'
import { isErrorCode } from '../core/errors/error-table.ts'
import type { Skip } from '../core/guard-state.ts'
import { isRecord } from '../core/schema/check.ts'
import type { OpaqueMark } from '../core/shell-effects.ts'
import { abandon, isThenable } from '../core/values/thenable.ts'
import { checkExpiry } from '../guard/expiry.ts'
import { describeMarks, explainMatch } from '../match/explain-match.ts'
import type { MatchInput } from '../match/match-part.ts'
import { applyFailure } from './apply-result.ts'
import { type CompiledHook, envelopeFor } from './compiled-hook.ts'
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
  const verdict = checkConditions(dispatch, hook)
  if (verdict === 'missed') return 'next'
  if (hook.expiresAt !== undefined && isExpired(dispatch, hook, hook.expiresAt)) return 'next'
  if (verdict !== 'matched') return applyOpaque(dispatch, hook, verdict.hidden)
  if (hook.trippedBy) return applyTripped(dispatch, hook, hook.trippedBy)
  // In the second pass the guards of a hook that has fired are not asked again.
  if (hook.guards === undefined || (secondPass && dispatch.extras?.firedHooks.has(hook)))
    return dispatch.run(hook)
  return askGuards(dispatch, hook)
}

type ConditionVerdict = 'matched' | 'missed' | { readonly hidden: readonly OpaqueMark[] }

/** The tool name has been matched when the hooks were resolved; this evaluates the other conditions. */
function checkConditions(dispatch: Dispatch, hook: CompiledHook): ConditionVerdict {
  const { matcher } = hook
  if (matcher.when === undefined && !matcher.readsEffects) return 'matched'
  const { event, payload } = dispatch
  const name = subjectOf(dispatch.resolved.eventHooks.row, payload)
  const input: MatchInput = { event, name, payload, envelope: envelopeFor(hook, dispatch.envelope) }
  const log = dispatch.extras?.log
  if (matcher.when === undefined || log?.timed) return reportConditions(dispatch, hook, input)
  try {
    return matcher.when(input) ? 'matched' : 'missed'
  } catch (thrown) {
    return conditionFailed(dispatch, hook, thrown)
  }
}

/** Evaluates the conditions with the report that a trace, or the record of what matched, needs. */
function reportConditions(dispatch: Dispatch, hook: CompiledHook, input: MatchInput): ConditionVerdict {
  const { effects } = hook.matcher.readsEffects ? dispatch : {}
  const report = explainMatch(hook.matcher, effects === undefined ? input : { ...input, effects }, false)
  const log = dispatch.extras?.log
  if (log?.timed) log.matchReports.set(hook, report)
  if (report.result === 'failed') return conditionFailed(dispatch, hook, report.error)
  if (report.result === 'matched') {
    if (report.found !== undefined) dispatch.report({ matched: report.found })
    return 'matched'
  }
  return report.hidden === undefined ? 'missed' : { hidden: report.hidden }
}

/**
 * Nothing that is known about the call fits, and a part of it cannot be known. A gate does what the hook says; without `opaque`
 * it goes on, and the record shows what was hidden.
 */
function applyOpaque(dispatch: Dispatch, hook: CompiledHook, hidden: readonly OpaqueMark[]): StepOutcome {
  const { eventHooks, role } = dispatch.resolved
  if (eventHooks.row.mode !== 'gate') return 'next'
  const { opaque: policy = 'allow' } = hook.definition
  const code = 'match.opaque'
  const text = describeMarks(hidden)
  const reason = `what the line does cannot be known before it runs: ${text}`
  dispatch.report({ opaque: text })
  if (policy === 'allow') {
    recordExecution(dispatch, hook, { decision: 'skipped', code, reason })
    return 'next'
  }
  recordExecution(dispatch, hook, { decision: policy, code, reason })
  if (role !== 'decide') return 'next'
  if (hook.seesFinalInput) dispatch.withExtras().passedInputs.set(hook, dispatch.payload)
  builderOf(dispatch).decide({ kind: policy, reason }, hook, code)
  return policy === 'block' ? 'stop' : 'next'
}

/**
 * A condition that cannot be evaluated: on a gate the handler runs and decides, elsewhere the hook is skipped. A hook that
 * permits in place of a person is skipped too: the call may not be the one that it is for.
 */
function conditionFailed(dispatch: Dispatch, hook: CompiledHook, thrown: unknown): 'matched' | 'missed' {
  const code = thrown instanceof HookError ? thrown.code : 'match.cel_eval'
  const reason = thrown instanceof HookError ? thrown.message : 'the condition could not be evaluated'
  dispatch.resolved.engine.log('match.failed', { event: dispatch.event, hook: hook.id, code, reason })
  if (dispatch.resolved.eventHooks.row.mode === 'gate' && !hook.definition.preapproves) return 'matched'
  recordExecution(dispatch, hook, { decision: 'skipped', code, reason })
  return 'missed'
}

/** A hook whose time is over is skipped, and the record says so. */
function isExpired(dispatch: Dispatch, hook: CompiledHook, expiresAt: number): boolean {
  const pass = checkExpiry(expiresAt, dispatch.resolved.engine.clock.now())
  if (pass.pass) return false
  recordExecution(dispatch, hook, { decision: 'skipped', code: pass.code, reason: pass.skip })
  return true
}

/** The policy for the failures that tripped the hook still applies. */
function applyTripped(dispatch: Dispatch, hook: CompiledHook, because: Failure): StepOutcome {
  const reason = `${hook.id} failed too often and was switched off`
  const code = 'guard.breaker'
  const { eventHooks, role } = dispatch.resolved
  const decides = eventHooks.row.mode === 'gate' && role === 'decide'
  const blocks = decides && hook.policies[because] === 'block'
  recordExecution(dispatch, hook, { decision: blocks ? 'block' : 'skipped', code, reason })
  if (blocks) builderOf(dispatch).decide({ kind: 'block', reason }, hook, code)
  else if (decides) builderOf(dispatch).open(hook.id, because, code)
  return blocks ? 'stop' : 'next'
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
    abandon(passes)
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
