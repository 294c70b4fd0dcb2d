import type { Execution } from '../core/sink.ts'
import type { Trace, TraceHook } from '../core/trace.ts'
import { explainMatch, type MatchReport } from '../match/explain.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'

/**
 * What happened in a dispatch. A plain hook that had nothing to say leaves no line unless somebody asked for times,
 * because "it ran and allowed" can be told from the chain alone.
 */
export class Protocol {
  readonly timed: boolean
  readonly lines: Execution[] = []
  readonly reports = new Map<CompiledHook, MatchReport>()
  readonly startedAt: number

  constructor(timed: boolean, startedAt: number) {
    this.timed = timed
    this.startedAt = startedAt
  }
}

type Matched = Pick<TraceHook, 'matched' | 'because'>

/** Every execution of a dispatch and of what it started beside itself. */
export function executionsOf(dispatch: Dispatch): readonly Execution[] {
  const protocol = dispatch.aside?.protocol
  const children = dispatch.aside?.children ?? []
  const own = protocol?.timed ? protocol.lines : withSilent(dispatch, protocol?.lines ?? [])
  return children.length === 0 ? own : [...own, ...children.flatMap((child) => executionsOf(child.latest))]
}

function withSilent(dispatch: Dispatch, lines: readonly Execution[]): readonly Execution[] {
  const { hooks, role } = dispatch.track
  const ran = dispatch.aside?.secondPass ? hooks.length : dispatch.index + (dispatch.stopped ? 1 : 0)
  const shadow = role === 'shadow' ? { shadow: true as const } : {}
  const told = hooks.flatMap((hook, place): Execution[] => {
    const own = lines.filter((line) => line.hook === hook.id && !line.recheck)
    const isSilent = own.length === 0 && hook.plain && place < ran
    return isSilent ? [{ hook: hook.id, decision: 'allow', ...shadow }] : own
  })
  return [...told, ...lines.filter((line) => !told.includes(line))]
}

export function traceOf(dispatch: Dispatch, subject: string, durationMs: number): Trace {
  const executions = executionsOf(dispatch)
  const { plan } = dispatch.track
  const reports = new Map(
    [dispatch, ...(dispatch.aside?.children ?? [])].flatMap((part) => [
      ...(part.latest.aside?.protocol?.reports ?? []),
    ]),
  )
  const ofHook = (hook: CompiledHook): TraceHook => {
    const own = executions.filter((execution) => execution.hook === hook.id)
    const match = matchOf(dispatch, subject, hook, reports.get(hook))
    const unreached = match.matched === true && own.length === 0
    return {
      hook: hook.id,
      ...(hook.definition.name === undefined ? {} : { name: hook.definition.name }),
      ...match,
      ...(unreached ? { because: 'not reached: a hook before it ended the chain' } : {}),
      executions: own,
    }
  }
  const off = plan.disabled.map(
    (hook): TraceHook => ({
      hook: hook.id,
      matched: false,
      because: `disabled${hook.definition.disabled_reason ? `: ${hook.definition.disabled_reason}` : ''}`,
      executions: [],
    }),
  )
  return {
    event: plan.event,
    id: dispatch.id,
    time: dispatch.time,
    subject,
    hooks: [...plan.hooks.map(ofHook), ...off],
    merges: dispatch.answer?.merges ?? [],
    durationMs,
  }
}

function matchOf(
  dispatch: Dispatch,
  subject: string,
  hook: CompiledHook,
  report: MatchReport | undefined,
): Matched {
  const { event, original, envelope } = dispatch
  const found = report ?? explainMatch(hook.matcher, { event, name: subject, payload: original, envelope })
  if (found.result === 'matched') return { matched: true }
  if (found.result === 'missed') return { matched: false, because: found.because }
  return { matched: 'failed', because: `${found.part} ${found.source}: ${found.error.message}` }
}
