import type { CommandHost, HostPaths } from '../../agents/agent-host.ts'
import { after } from '../../engine/core/after.ts'
import { systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
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
  const payload = samplePayload({ agent: host.agent, event: command.event, session, cwd: paths.project })
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
  return /"behavior":"deny"|"decision":"block"/.test(stdout) ? stdout : undefined
}

function definedVariables(env: HostPaths['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

interface SampleRequest {
  readonly agent: string
  readonly event: string
  readonly session: string
  readonly cwd: string
}

const COMMAND = { command: 'true' }
const PROMPT = 'hookhelm doctor: a test, nothing to do'

type PayloadFields = Readonly<Record<string, unknown>>

/** The agent's name for the tool that runs commands. */
const shellTools: Readonly<Record<string, string>> = { 'gemini-cli': 'run_shell_command', cursor: 'Shell' }

/** A harmless payload in the shape that the agent sends. */
function samplePayload(sample: SampleRequest): PayloadFields {
  return sample.agent === 'copilot-cli' ? camelPayload(sample) : snakePayload(sample)
}

function snakePayload({ agent, event, session, cwd }: SampleRequest): PayloadFields {
  return {
    session_id: session,
    ...(agent === 'cursor' ? { conversation_id: session, workspace_roots: [cwd] } : {}),
    transcript_path: null,
    cwd,
    hook_event_name: event,
    ...eventFields(event, {
      tool_name: shellTools[agent] ?? 'Bash',
      tool_input: COMMAND,
      tool_use_id: `${session}-call`,
    }),
  }
}

function camelPayload({ event, session, cwd }: SampleRequest): PayloadFields {
  return {
    sessionId: session,
    timestamp: 0,
    cwd,
    ...eventFields(event, { toolName: 'bash', toolArgs: COMMAND, toolInput: COMMAND }),
  }
}

function eventFields(event: string, tool: PayloadFields): PayloadFields {
  if (/tool|permission|mcp/i.test(event)) return tool
  if (/prompt|beforeagent/i.test(event)) return { prompt: PROMPT }
  return /subagent/i.test(event) ? { subagent_type: 'doctor', task: PROMPT } : {}
}
