import { errorText } from '../core/error.ts'
import type { Execution } from '../core/sink.ts'
import { isThenable } from '../core/thenable.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import { Protocol } from './protocol.ts'
import type { Role } from './track.ts'

/** Starts a hook beside the answer, on the input as it is now. */
export function beside(dispatch: Dispatch, hook: CompiledHook, role: Exclude<Role, 'decide'>): void {
  const protocol = dispatch.aside?.protocol
  const child = dispatch.branch(hook, role)
  if (protocol?.timed) child.withAside().protocol = new Protocol(true, protocol.startedAt)
  child.start()
}

/** A shadow hook records its opinion even when a hook before it has blocked. */
export function shadowsBehind(dispatch: Dispatch): void {
  const { hooks, role } = dispatch.track
  if (role !== 'decide' || dispatch.aside?.secondPass) return
  for (const hook of hooks.slice(dispatch.index + 1)) if (hook.shadow) beside(dispatch, hook, 'shadow')
}

/** Answers now, and records when everything beside the answer has ended; a trace is complete only then. */
export function finishBeside(dispatch: Dispatch): void {
  const aside = dispatch.withAside()
  const { detached } = dispatch.track.engine
  aside.unlisten?.()
  if (!aside.wantsTrace) dispatch.resolve(dispatch.decision)
  const running = aside.children.flatMap((child) => (child.latest.over ? [] : [child.out]))
  if (running.length === 0) return complete(dispatch)
  const all = Promise.allSettled(running).then(() => {
    detached.delete(all)
    complete(dispatch)
  })
  detached.add(all)
}

function complete(dispatch: Dispatch): void {
  const { engine, role } = dispatch.track
  const aside = dispatch.withAside()
  if (aside.protocol?.timed) aside.durationMs = engine.clock.elapsed() - aside.protocol.startedAt
  if (role === 'decide' && engine.sink !== undefined) record(dispatch)
  if (aside.wantsTrace) dispatch.resolve({ ...dispatch.decision, trace: dispatch.trace() })
}

/** A sink that fails changes nothing but the log. */
export function record(dispatch: Dispatch): void {
  const { engine } = dispatch.track
  try {
    const written: unknown = engine.sink?.record(dispatch)
    if (written !== undefined) watchWrite(dispatch, written)
  } catch (thrown) {
    writeFailed(dispatch, thrown)
  }
}

/** A sink may well be an async function, whatever its type says. */
function watchWrite(dispatch: Dispatch, written: unknown): void {
  if (isThenable(written)) Promise.resolve(written).catch((thrown) => writeFailed(dispatch, thrown))
}

function writeFailed({ track, event }: Dispatch, thrown: unknown): void {
  track.engine.log('security.hook.audit_write_failed', { event, error: errorText(thrown) })
}

export function tellLate(execution: Execution, moment: Dispatch): void {
  const { event } = moment
  const { engine } = moment.track
  engine.log('engine.late', { hook: execution.hook, event })
  try {
    engine.sink?.late?.(execution, event, moment)
  } catch (thrown) {
    engine.log('security.hook.audit_write_failed', { event, error: errorText(thrown) })
  }
}
