import type { Wait } from './dispatch.ts'
import { fail, say } from './settle.ts'

/** Waiting for a handler. */
export const handling: Wait = {
  value(dispatch, value) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(dispatch.take(hook, value))
  },
  error(dispatch, thrown) {
    const { hook } = dispatch
    if (hook !== undefined) dispatch.proceed(fail(dispatch, hook, 'error', 'handler.error', thrown))
  },
  expire(dispatch, spent) {
    const { hook, track } = dispatch
    if (hook === undefined) return
    const went = fail(dispatch, hook, 'timeout', hook.timeoutCode, undefined)
    if (went === 'stop' || !spent) return dispatch.proceed(went)
    // Nothing is left for the hooks behind this one, so `on_timeout: allow` cannot open the gate.
    if (track.plan.row.mode === 'gate' && track.role === 'decide') {
      const reason = 'the hooks of this event used up their time together'
      say(dispatch).decide({ kind: 'block', reason }, hook.id, 'engine.budget')
    }
    dispatch.stop()
  },
}
