import { after } from '../../engine/core/after.ts'
import { systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import { runProcess } from '../../safe/process/run-process.ts'
import { shell } from '../../safe/process/spec.ts'
import type { WrittenCall } from '../call-entry.ts'
import type { CommandHost, Where } from '../host.ts'
import { samplePayload } from './sample-payload.ts'

export interface Ran {
  readonly exit: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
  /** Why there is no end to tell of. */
  readonly failed?: string
}

export interface Stage {
  readonly host: CommandHost
  readonly where: Where
  readonly session: string
}

/** Nobody asked the agent to wait longer than this. */
const UNKNOWN_TIMEOUT_MS = 60_000

/** Runs a command exactly as it stands in the configuration, the way the agent does. */
export async function runCall(call: WrittenCall, { host, where, session }: Stage): Promise<Ran> {
  const stopped = new AbortController()
  const callOff = after(systemClock, call.timeoutMs ?? UNKNOWN_TIMEOUT_MS, () => stopped.abort())
  const payload = samplePayload({ agent: host.agent, event: call.event, session, cwd: where.project })
  try {
    const { exitCode, signal, stdout, stderr, durationMs } = await runProcess(
      {
        argv: call.line === undefined ? call.argv : shell(call.line),
        cwd: where.project,
        env: { ...present(where.env), ...host.hookEnvironment(where) },
        stdin: JSON.stringify(payload),
      },
      stopped.signal,
    )
    const killed = signal === undefined ? {} : { failed: `ended by ${signal}` }
    return { exit: exitCode, stdout, stderr, ms: Math.round(durationMs), ...killed }
  } catch (thrown) {
    return { exit: undefined, stdout: '', stderr: '', ms: 0, failed: errorText(thrown) }
  } finally {
    callOff()
  }
}

/** Whether the agent would not go on, and the words it would show. */
export function refusalIn({ event, argv }: WrittenCall, { exit, stdout, stderr }: Ran): string | undefined {
  if (exit === 2 && stdout === '' && stderr.trim() !== '') return stderr.trim()
  const isTold = argv.includes('--refuse') || event === 'userPromptSubmitted'
  if (exit !== 0 || !isTold) return undefined
  return /"behavior":"deny"|"decision":"block"/.test(stdout) ? stdout : undefined
}

function present(env: Where['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
