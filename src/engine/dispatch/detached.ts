import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import type { DispatchRole } from './event-hooks.ts'
import { ExecutionLog, traceOf, writeRecord } from './execution-log.ts'

/** Starts a hook detached from the answer, on the input as it is now. */
export function startDetached(
  dispatch: Dispatch,
  hook: CompiledHook,
  role: Exclude<DispatchRole, 'decide'>,
): void {
  const { log, sink, detached } = dispatch.withExtras()
  const child = dispatch.createDetached(hook, role)
  if (sink !== undefined) child.withExtras().sink = sink
  if (hook.matcher.readsEffects) child.withExtras().effects = dispatch.effects
  if (log?.timed) child.withExtras().log = new ExecutionLog(true, log.startedAt)
  detached.push(child)
  child.start()
}

/** A shadow hook records its opinion even if a hook before it has blocked. */
export function startRemainingShadows(dispatch: Dispatch): void {
  const { hooks, role } = dispatch.resolved
  if (role !== 'decide' || dispatch.extras?.secondPass) return
  for (const hook of hooks.slice(dispatch.index + 1)) if (hook.shadow) startDetached(dispatch, hook, 'shadow')
}

/** Answers now and records when all detached hooks have ended; a trace is complete only then. */
export function finishWithExtras(dispatch: Dispatch): void {
  const extras = dispatch.withExtras()
  const { detached } = dispatch.resolved.engine
  extras.removeAbortListener?.()
  if (!extras.wantsTrace) dispatch.resolve(dispatch.decision)
  const running = extras.detached.flatMap((child) => (child.latest.over ? [] : [child.out]))
  if (running.length === 0) return complete(dispatch)
  const all = Promise.allSettled(running).then(() => {
    detached.delete(all)
    complete(dispatch)
  })
  detached.add(all)
}

function complete(dispatch: Dispatch): void {
  const { engine, role } = dispatch.resolved
  const extras = dispatch.withExtras()
  if (extras.log?.timed) extras.durationMs = engine.clock.elapsed() - extras.log.startedAt
  if (role === 'decide' && (extras.sink ?? engine.sink) !== undefined) writeRecord(dispatch)
  if (extras.wantsTrace) dispatch.resolve({ ...dispatch.decision, trace: traceOf(dispatch) })
}
