import type { HookId } from '../core/decision.ts'
import { errorText } from '../core/errors/error.ts'
import type { DispatchRecord, Execution, TraceOptions } from '../core/records/sink.ts'
import type { Trace, TraceHook } from '../core/records/trace.ts'
import { isThenable } from '../core/values/thenable.ts'
import { explainMatch, type MatchReport } from '../match/explain-match.ts'
import { type CompiledHook, envelopeFor } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import { subjectOf } from './event-hooks.ts'

/**
 * What happened in a dispatch. A plain hook that returned nothing leaves no entry unless durations are measured:
 * "it ran and allowed" follows from the order of the hooks.
 */
export class ExecutionLog {
  readonly timed: boolean
  readonly entries: Execution[] = []
  /** Why conditions held or not, for hooks that have any; only if durations are measured. */
  readonly matchReports = new Map<CompiledHook, MatchReport>()
  readonly startedAt: number

  constructor(timed: boolean, startedAt: number) {
    this.timed = timed
    this.startedAt = startedAt
  }
}

/** Adds an entry to the log of a dispatch. */
export function recordExecution(
  dispatch: Dispatch,
  hook: CompiledHook,
  entry: Omit<Execution, 'hook'>,
): void {
  const { engine, role } = dispatch.resolved
  const extras = dispatch.withExtras()
  extras.log ??= new ExecutionLog(false, 0)
  extras.log.entries.push({
    hook: hook.id,
    ...entry,
    ...(extras.facts === undefined ? {} : { facts: extras.facts }),
    ...(role === 'shadow' ? { shadow: true } : {}),
    ...(extras.secondPass ? { recheck: true } : {}),
    ...(extras.log.timed && entry.decision !== 'skipped'
      ? // A hook that a guard decided for never started.
        { durationMs: engine.clock.elapsed() - extras.startedAt || 0 }
      : {}),
  })
  extras.facts = undefined
  extras.startedAt = Number.NaN
}

/** Whether a hook that returned nothing needs an entry all the same. */
export function wantsEntry({ extras }: Dispatch): boolean {
  return extras !== null && (extras.log?.timed === true || extras.facts !== undefined)
}

/** Every execution of a dispatch and of the hooks it started detached. */
export function executionsOf(dispatch: Dispatch): readonly Execution[] {
  const log = dispatch.extras?.log
  const detached = dispatch.extras?.detached ?? []
  const own = log?.timed ? log.entries : withSilent(dispatch, log?.entries ?? [])
  return detached.length === 0 ? own : [...own, ...detached.flatMap((child) => executionsOf(child.latest))]
}

/** Adds the plain hooks that ran and returned nothing. */
function withSilent(dispatch: Dispatch, entries: readonly Execution[]): readonly Execution[] {
  const { hooks, role } = dispatch.resolved
  const ran = dispatch.extras?.secondPass ? hooks.length : dispatch.index + (dispatch.stopped ? 1 : 0)
  const shadow = role === 'shadow' ? { shadow: true as const } : {}
  const inOrder = hooks.flatMap((hook, index): Execution[] => {
    const own = entries.filter((entry) => entry.hook === hook.id && !entry.recheck)
    const isSilent = own.length === 0 && hook.plain && index < ran
    return isSilent ? [{ hook: hook.id, decision: 'allow', ...shadow }] : own
  })
  return [...inOrder, ...entries.filter((entry) => !inOrder.includes(entry))]
}

/** Explains a dispatch: what became of each hook of the event, and how the decision was merged. */
export function traceOf(
  dispatch: Dispatch,
  { maxMisses = Number.POSITIVE_INFINITY }: TraceOptions = {},
): Trace {
  const { eventHooks, misses } = dispatch.resolved
  const { event, row, hooks, disabled } = eventHooks
  const subject = subjectOf(row, dispatch.payload)
  const explain = hookExplainer(dispatch, subject)
  const missed = misses()
  const isComplete = missed.size <= maxMisses
  const listed = isComplete ? [...hooks, ...disabled] : hooks.filter((hook) => !missed.has(hook))
  return {
    event,
    id: dispatch.id,
    time: dispatch.time,
    subject,
    hooks: listed.map((hook) => missed.get(hook) ?? explain(hook)),
    ...(isComplete ? {} : { misses: missed.size }),
    merges: dispatch.builder?.merges ?? [],
    durationMs: dispatch.extras?.durationMs ?? 0,
  }
}

function hookExplainer(dispatch: Dispatch, subject: string): (hook: CompiledHook) => TraceHook {
  const executions = executionsOf(dispatch)
  const reports = new Map(
    [dispatch, ...(dispatch.extras?.detached ?? [])].flatMap((part) => [
      ...(part.latest.extras?.log?.matchReports ?? []),
    ]),
  )
  const { event, original, envelope } = dispatch
  return (hook) => {
    const own = executions.filter((execution) => execution.hook === hook.id)
    const { effects } = hook.matcher.readsEffects ? dispatch : {}
    const input = {
      ...{ event, name: subject, payload: original, envelope: envelopeFor(hook, envelope) },
      ...(effects === undefined ? {} : { effects }),
    }
    const match = matchText(reports.get(hook) ?? explainMatch(hook.matcher, input))
    const unreached = match.matched === true && own.length === 0
    return {
      hook: hook.id,
      ...(hook.definition.name === undefined ? {} : { name: hook.definition.name }),
      ...match,
      ...(unreached ? { because: 'not reached: a hook before it ended the chain' } : {}),
      executions: own,
    }
  }
}

function matchText(report: MatchReport): Pick<TraceHook, 'matched' | 'because'> {
  if (report.result === 'matched') return { matched: true }
  if (report.result === 'missed') return { matched: false, because: report.because }
  return { matched: 'failed', because: `${report.part} ${report.source}: ${report.error.message}` }
}

/** Hands the dispatch to its sink. A sink that fails changes nothing but the log. */
export function writeRecord(dispatch: Dispatch & DispatchRecord): void {
  const sink = dispatch.extras?.sink ?? dispatch.resolved.engine.sink
  try {
    const written: unknown = sink?.record(dispatch)
    // A sink may be an async function, whatever its type says.
    if (isThenable(written)) Promise.resolve(written).catch((thrown) => logWriteFailure(dispatch, thrown))
  } catch (thrown) {
    logWriteFailure(dispatch, thrown)
  }
}

/** Reports an answer that came after its deadline. */
export function recordLate(dispatch: Dispatch, hook: HookId): void {
  const { engine } = dispatch.resolved
  const code = 'engine.late'
  engine.log(code, { hook, event: dispatch.event })
  const sink = dispatch.extras?.sink ?? engine.sink
  try {
    sink?.late?.({ hook, decision: 'late', code }, dispatch)
  } catch (thrown) {
    logWriteFailure(dispatch, thrown)
  }
}

function logWriteFailure({ resolved, event }: Dispatch, thrown: unknown): void {
  resolved.engine.log('security.hook.audit_write_failed', { event, error: errorText(thrown) })
}
