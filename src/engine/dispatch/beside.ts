import { errorText } from '../core/error.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch, Role } from './dispatch.ts'
import { Protocol, traceOf } from './protocol.ts'
import { subjectOf } from './subject.ts'

/** Starts a hook beside the answer, on the input as it is now. */
export function beside(dispatch: Dispatch, hook: CompiledHook, role: Exclude<Role, 'decide'>): void {
  const { protocol } = dispatch
  const child = dispatch.branch(hook, role)
  if (protocol?.timed) child.protocol = new Protocol(true, protocol.startedAt)
  child.start()
}

/** A shadow hook records its opinion even when a hook before it has blocked. */
export function shadowsBehind(dispatch: Dispatch): void {
  if (dispatch.role !== 'decide' || dispatch.secondPass) return
  for (const hook of dispatch.hooks.slice(dispatch.index + 1))
    if (hook.shadow) beside(dispatch, hook, 'shadow')
}

/** Answers now, and records when everything beside the answer has ended; a trace is complete only then. */
export function finishBeside(dispatch: Dispatch): void {
  const { engine, wantsTrace } = dispatch
  if (!wantsTrace) dispatch.resolve(dispatch.decision)
  const running = (dispatch.children ?? []).flatMap((child) => (child.latest.over ? [] : [child.out]))
  if (running.length === 0) return complete(dispatch)
  const all = Promise.allSettled(running).then(() => {
    engine.detached.delete(all)
    complete(dispatch)
  })
  engine.detached.add(all)
}

function complete(dispatch: Dispatch): void {
  const { engine, decision, protocol, plan, payload } = dispatch
  if (dispatch.role === 'decide' && engine.sink !== undefined) record(dispatch)
  if (!dispatch.wantsTrace) return
  const durationMs = engine.clock.elapsed() - (protocol?.startedAt ?? 0)
  dispatch.resolve({ ...decision, trace: traceOf(dispatch, subjectOf(plan.row, payload), durationMs) })
}

/** A sink that fails changes nothing but the log. */
export function record(dispatch: Dispatch): void {
  const { engine, event } = dispatch
  try {
    engine.sink?.record(dispatch)
  } catch (thrown) {
    engine.log('security.hook.audit_write_failed', { event, error: errorText(thrown) })
  }
}
