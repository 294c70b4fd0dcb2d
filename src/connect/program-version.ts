import { after } from '../engine/core/after.ts'
import { systemClock } from '../engine/core/clock.ts'
import { environment } from '../safe/process/environment.ts'
import { runProcess } from '../safe/process/run-process.ts'
import type { Environment } from './host.ts'

/** Some take seconds to say it. */
const PATIENCE_MS = 15_000

/** What an agent says its version is; nothing when it does not say. */
export async function programVersion(program: string, env: Environment): Promise<string | undefined> {
  const stopped = new AbortController()
  const callOff = after(systemClock, PATIENCE_MS, () => stopped.abort())
  try {
    const spec = { argv: [program, '--version'], env: environment([], {}, env) }
    const { exitCode, stdout } = await runProcess(spec, stopped.signal)
    return exitCode === 0 ? /\d+\.\d+[\w.-]*/.exec(stdout)?.[0] : undefined
  } catch {
    return undefined
  } finally {
    callOff()
  }
}
