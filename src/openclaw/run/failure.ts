import { logText } from '../log-text.ts'
import type { Call, Listener } from './desk.ts'

/**
 * Logs a failure, or throws it when the hook fails closed. The texts are a promise to hosts that search their logs,
 * and the errors are plain ones, as hosts know them.
 */
export function settle(call: Call, listener: Listener, thrown: unknown): void {
  const said = call.row.sync ? String(thrown) : logText(thrown)
  const text = `[hooks] ${call.name} handler from ${listener.pluginId} failed: ${said}`
  if (!call.desk.swallows(call.name)) throw new Error(text, { cause: thrown })
  call.desk.logger?.error(text)
}

/** A promise where nothing can wait: ignored with a warning, or a failure. */
export function refusePromise(call: Call, listener: Listener): void {
  const text =
    `[hooks] ${call.name} handler from ${listener.pluginId} returned a Promise; ` +
    'this hook is synchronous and the result was ignored.'
  if (!call.desk.swallows(call.name)) throw new Error(text)
  call.desk.logger?.warn?.(text)
}
