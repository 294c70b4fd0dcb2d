import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { parseJson } from '../../safe/json.ts'
import { childEnvironment } from '../../safe/process/child-environment.ts'
import { redact } from '../../safe/redact.ts'
import type { AgentRequest } from './agent-request.ts'
import { describeTask } from './describe-task.ts'
import { checkAnswer } from './json-schema.ts'

export interface CommandAgent {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** What it reads on stdin: the request as JSON, or the task as text. */
  readonly stdin?: 'request' | 'task'
  /** Where in the JSON it prints the answer stands, if not at the top. */
  readonly answer_field?: string
}

interface ProcessEnd {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
  readonly truncated?: boolean
}

export type RunProcess = (
  spec: {
    readonly argv: readonly string[]
    readonly cwd?: string
    readonly env: Readonly<Record<string, string>>
    readonly stdin: string
  },
  signal: AbortSignal,
) => Promise<ProcessEnd>

interface Start {
  readonly runProcess: RunProcess
  readonly signal: AbortSignal
}

export async function runCommandAgent(
  agent: CommandAgent,
  request: AgentRequest,
  { runProcess, signal }: Start,
): Promise<unknown> {
  const { argv, cwd, env = {}, stdin = 'request' } = agent
  const task = stdin === 'request' ? JSON.stringify(request) : describeTask(request.prompt ?? '', request)
  // A hook inside of the agent goes on counting where we are.
  const own = { ...env, HOOKHELM_DEPTH: String(request.depth) }
  const end = await runProcess(
    { argv, env: childEnvironment([], own), stdin: task, ...(cwd === undefined ? {} : { cwd }) },
    signal,
  )
  if (end.exitCode !== 0) {
    const how = end.exitCode === undefined ? `signal ${end.signal}` : `exit code ${end.exitCode}`
    throw new HookError('agent.failed', `the agent ended with ${how}: ${redact(end.stderr)}`)
  }
  return checkAnswer(answerOf(end.stdout, agent.answer_field), request.output_schema)
}

/** Programs wrap their answer in a report of the run, some of them as text in it. */
function answerOf(stdout: string, field: string | undefined): unknown {
  const printed = parsed(stdout)
  if (field === undefined) return printed
  const inner = isRecord(printed) ? printed[field] : undefined
  return typeof inner === 'string' ? parsed(inner) : inner
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new HookError('agent.output_schema', 'the agent printed no JSON')
  }
}
