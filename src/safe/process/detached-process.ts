import { spawn } from 'node:child_process'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { after } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { ProcessSpec } from './process-spec.ts'

/** A process that goes on when the gateway ends. */
export interface DetachedProcess {
  readonly pid: number
  isRunning(): boolean
}

/** A process that ends within this time did not start properly, unless it ended well. */
const SETTLE_MS = 1_000

/** Starts a process in a session of its own, without input and output. Rejects if it fails at once. */
export function startDetachedProcess(
  { argv: [file = '', ...args], cwd, env }: Pick<ProcessSpec, 'argv' | 'cwd' | 'env'>,
  clock: Clock,
) {
  return new Promise<DetachedProcess>((resolve, reject) => {
    const where = cwd === undefined ? {} : { cwd }
    const child = spawn(file, args, { ...where, env: { ...env }, detached: true, stdio: 'ignore' })
    let isOver = false
    const started = () => resolve({ pid: child.pid ?? 0, isRunning: () => !isOver })
    const callOff = after(clock, SETTLE_MS, started)
    child.once('error', (error) => {
      isOver = true
      callOff()
      reject(handlerError('process.start', `${file} cannot be started: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      isOver = true
      callOff()
      if (code === 0) return started()
      const how = code === null ? `signal ${signal}` : `exit code ${code}`
      reject(handlerError('process.exit', `${file} ended with ${how}`))
    })
    child.unref()
  })
}
