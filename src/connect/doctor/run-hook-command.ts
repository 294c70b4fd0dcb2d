import type { CommandHost, HostPaths, SamplePayload } from '../../agents/agent-host.ts'
import { findAdapter } from '../../agents/table.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { after } from '../../engine/core/time/after.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { shellArgv } from '../../safe/process/process-spec.ts'
import { runProcess } from '../../safe/process/run-process.ts'
import type { WrittenHookCommand } from '../hook-command.ts'

export interface CommandRun {
  readonly exit: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
  /** Why the process has no exit code. */
  readonly failed?: string
}

/** Where and for which session the doctor runs commands. */
export interface ProbeContext {
  readonly host: CommandHost
  readonly paths: HostPaths
  readonly session: string
  /** What to do to have the entries written again. */
  readonly reconnect: string
}

/** For entries without a timeout. */
const DEFAULT_TIMEOUT_MS = 60_000

/** Runs a command from the configuration in the way the agent does. */
export async function runHookCommand(
  command: WrittenHookCommand,
  { host, paths, session }: ProbeContext,
): Promise<CommandRun> {
  const abort = new AbortController()
  const cancelTimeout = after(systemClock, command.timeoutMs ?? DEFAULT_TIMEOUT_MS, () => abort.abort())
  const payload = samplePayload(host, {
    session_id: session,
    cwd: paths.project,
    hook_event_name: command.event,
  })
  try {
    const { exitCode, signal, stdout, stderr, durationMs } = await runProcess(
      {
        argv: command.line === undefined ? command.argv : shellArgv(command.line),
        cwd: paths.project,
        env: { ...definedVariables(paths.env), ...host.hookEnvironment(paths) },
        stdin: JSON.stringify(payload),
      },
      abort.signal,
    )
    const killed = signal === undefined ? {} : { failed: `ended by ${signal}` }
    return { exit: exitCode, stdout, stderr, ms: Math.round(durationMs), ...killed }
  } catch (thrown) {
    return { exit: undefined, stdout: '', stderr: '', ms: 0, failed: errorText(thrown) }
  } finally {
    cancelTimeout()
  }
}

/** The message of a refusal that the agent honours, or undefined if the agent would continue. */
export function findRefusal(
  { event, argv }: WrittenHookCommand,
  { exit, stdout, stderr }: CommandRun,
): string | undefined {
  if (exit === 2 && stdout === '' && stderr.trim() !== '') return stderr.trim()
  const isOnStdout = argv.includes('--refuse') || event === 'userPromptSubmitted'
  if (exit !== 0 || !isOnStdout) return undefined
  // An agent reads only output that is JSON as a whole.
  const isDenied = /"behavior":"deny"|"decision":"block"|"permissionDecision":"deny"/.test(stdout)
  return isDenied && isJson(stdout) ? stdout : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function definedVariables(env: HostPaths['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

const COMMAND = { command: 'true' }
const PROMPT = 'hookhelm doctor: a test, nothing to do'

/** A harmless payload in the shape that the agent sends. */
function samplePayload(host: CommandHost, sample: SampleBase): Readonly<Record<string, unknown>> {
  const payload = { ...sample, transcript_path: null, ...eventFields(host.agent, sample) }
  return host.samplePayload?.(payload) ?? payload
}

type SampleBase = Pick<SamplePayload, 'session_id' | 'cwd' | 'hook_event_name'>

function eventFields(agent: string, { hook_event_name: event, session_id }: SampleBase) {
  if (/tool|permission|mcp/i.test(event))
    return { tool_name: shellTool(agent), tool_input: COMMAND, tool_use_id: `${session_id}-call` }
  if (/prompt|beforeagent/i.test(event)) return { prompt: PROMPT }
  return /subagent/i.test(event) ? { subagent_type: 'doctor', task: PROMPT } : {}
}

/** The agent's name for the tool that runs commands. */
function shellTool(agent: string): string {
  const tools = Object.entries(findAdapter(agent)?.tools ?? {})
  return tools.find(([, { name }]) => name === 'Bash')?.[0] ?? 'Bash'
}
