import { HookError } from '../../engine/core/error.ts'
import type { LiveEnd } from '../../safe/process/live-process.ts'
import { redact } from '../../safe/redact.ts'

/** Nobody waits any longer. */
export function expired(signal: AbortSignal): HookError {
  if (signal.reason instanceof HookError) return signal.reason
  return new HookError('process.timeout', 'the worker did not answer in time')
}

/** Why a worker is no more, with the last it said. */
export function deathOf({ exitCode, signal, stderr, overrun, refused }: LiveEnd): HookError {
  if (refused !== undefined)
    return new HookError('process.start', `the worker could not be started: ${refused.slice(0, 200)}`)
  if (overrun) return new HookError('process.output_limit', 'the worker wrote a line without end')
  const said = redact(stderr.slice(-1_000))
  const how = signal === undefined ? `ended with ${exitCode}` : `was ended by ${signal}`
  const code = signal === undefined ? 'process.exit' : 'process.signal'
  return new HookError(code, `the worker ${how}${said === '' ? '' : `: ${said}`}`)
}
