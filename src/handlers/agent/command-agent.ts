import { isRecord } from '../../engine/core/check.ts'
import { handlerError } from '../../engine/core/handler-errors.ts'
import { parseJson } from '../../safe/json.ts'
import { childEnvironment } from '../../safe/process/child-environment.ts'
import { redact } from '../../safe/redact.ts'
import { type AgentRequest, describeTask } from './agent-request.ts'
import { checkAnswer } from './schema-check.ts'

export interface CommandAgent {
  readonly argv: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** What the program reads on stdin: the request as JSON, or the task as text. */
  readonly stdin?: 'request' | 'task'
  /** The field of the printed JSON that holds the answer; without it, the whole JSON. */
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

interface CommandAgentParts {
  readonly runProcess: RunProcess
  readonly signal: AbortSignal
}

export async function runCommandAgent(
  agent: CommandAgent,
  request: AgentRequest,
  { runProcess, signal }: CommandAgentParts,
): Promise<unknown> {
  const { argv, cwd, env = {}, stdin = 'request' } = agent
  const task = stdin === 'request' ? JSON.stringify(request) : describeTask(request.prompt ?? '', request)
  // Hooks inside of the agent continue our count.
  const own = { ...env, HOOKHELM_DEPTH: String(request.depth) }
  const end = await runProcess(
    { argv, env: childEnvironment([], own), stdin: task, ...(cwd === undefined ? {} : { cwd }) },
    signal,
  )
  if (end.truncated)
    throw handlerError('agent.output_schema', 'the agent printed too much output and was killed')
  if (end.exitCode !== 0) {
    const how = end.exitCode === undefined ? `signal ${end.signal}` : `exit code ${end.exitCode}`
    throw handlerError('agent.failed', `the agent ended with ${how}: ${redact(end.stderr)}`)
  }
  return checkAnswer(readPrintedAnswer(end.stdout, agent.answer_field), request.output_schema)
}

/** Many programs print a report with the answer in one field, sometimes as JSON text. */
function readPrintedAnswer(stdout: string, field: string | undefined): unknown {
  const printed = parsePrinted(stdout)
  if (field === undefined) return printed
  const inner = isRecord(printed) ? printed[field] : undefined
  return typeof inner === 'string' ? parsePrinted(inner) : inner
}

function parsePrinted(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw handlerError('agent.output_schema', 'the agent printed something that is not JSON')
  }
}
