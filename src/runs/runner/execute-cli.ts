import type { RunnableAgent } from '../../engine/core/coding-agents.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { parseJson } from '../../safe/json.ts'
import { type LiveEnd, LiveProcess } from '../../safe/process/live-process.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { Blueprint } from '../blueprints/blueprint.ts'
import type { ExecutorSettings } from '../executor.ts'
import type { RunResult } from '../run-events.ts'
import { type CliAgent, type CliFact, type CliTask, cliAgentTable } from './cli-agents.ts'
import { environmentOf, type RunOrder, readJsonResult } from './execute-command.ts'
import type { RunExecution, RunnerMeans } from './execute-run.ts'

const LIMITS = { maxBytes: 1_048_576, maxDepth: 128, maxKeys: 100_000 }

/** What the cli executor needs for one run. */
export interface CliExecution
  extends Pick<RunnerMeans, 'clock' | 'isConnected'>,
    Pick<RunExecution, 'signal' | 'emit' | 'onSession'> {
  readonly settings: ExecutorSettings & { readonly agent: RunnableAgent }
  readonly folder: string
  readonly prompt: string
  /** The agent's own id of the session that this run continues. */
  readonly resume?: string
}

/** Runs a coding agent without a terminal. Its lines become events of the session; its last text is the result. */
export async function executeCli(
  blueprint: Blueprint,
  order: RunOrder,
  execution: CliExecution,
): Promise<RunResult> {
  const { settings, folder, signal, prompt, resume } = execution
  const { agent: name, args = [], allowed_env_vars: allowed = [] } = settings
  const env = environmentOf(order, allowed)
  assertConnected(execution, env)
  const agent = cliAgentTable[name]
  const { system_prompt: systemPrompt, model, tools } = blueprint
  const task: CliTask = {
    prompt: withSchema(prompt, blueprint),
    ...definedFields({ systemPrompt, model, tools, resume }),
  }
  const own = agent.start(task)
  const argv = [...(settings.command ?? [agent.program]), ...args, ...own.args]
  const answer = createCliAnswer(agent, execution)
  const end = await runLines({ argv, cwd: folder, env }, execution, own.stdin, answer.line)
  signal.throwIfAborted()
  return readCliResult(blueprint, answer.read(end))
}

function assertConnected(
  { settings, folder, isConnected, emit }: CliExecution,
  env: Readonly<Record<string, string>>,
): void {
  const { agent, unconnected = 'refuse' } = settings
  if (isConnected(agent, folder, env)) return
  if (unconnected === 'refuse')
    throw serverError('runs.unconnected', `${agent} is not connected, so no hook would see its tool calls`, {
      hint: `Run \`hookhelm connect ${agent}\` on the machine of the runner, or set \`unconnected: allow\`.`,
    })
  emit({
    event_type: 'warning',
    data: { code: 'runs.unconnected', content: `${agent} is not connected: no hook sees its tool calls` },
  })
}

function withSchema(prompt: string, { output_schema: schema }: Blueprint): string {
  if (schema === undefined) return prompt
  return `${prompt}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`
}

function runLines(
  spec: ConstructorParameters<typeof LiveProcess>[0],
  { signal, clock }: CliExecution,
  stdin: string,
  line: (text: string) => void,
): Promise<LiveEnd> {
  return new Promise((resolve) => {
    const child = new LiveProcess(spec, { line, end: resolve }, clock)
    const stop = () => child.stop()
    signal.addEventListener('abort', stop, { once: true })
    void child.ended.then(() => signal.removeEventListener('abort', stop))
    if (signal.aborted) stop()
    child.endInput(stdin)
  })
}

/** Collects what the lines say until the process ends. */
function createCliAnswer(agent: CliAgent, { emit, onSession }: Pick<CliExecution, 'emit' | 'onSession'>) {
  let text = ''
  let isDone = false
  let error: string | undefined
  let session = ''
  let pieces = ''
  /** Text that comes in pieces is one message. */
  const endPieces = (): void => {
    if (pieces !== '') emit({ event_type: 'message', data: { role: 'assistant', content: pieces } })
    pieces = ''
  }
  const take = (fact: CliFact): void => {
    if (fact.kind === 'text' && fact.continues) {
      text += fact.text
      pieces += fact.text
      return
    }
    endPieces()
    if (fact.kind === 'event') emit(fact.event)
    else if (fact.kind === 'text') text = fact.text
    else if (fact.kind === 'failed') error = fact.error
    else if (fact.kind === 'done') isDone = true
    else if (fact.id !== '' && fact.id !== session) {
      session = fact.id
      onSession(session)
    }
  }
  return {
    line(line: string): void {
      const value = parseLine(line)
      if (value !== undefined) for (const fact of agent.read(value)) take(fact)
    },
    /** The text, if the agent ended well. */
    read({ exitCode, signal, stderr, overrun, refused }: LiveEnd): string {
      if (refused !== undefined)
        throw handlerError('process.start', `the agent cannot be started: ${refused}`)
      if (overrun) throw handlerError('process.output_limit', 'the agent printed a line that is too long')
      if (error !== undefined) throw handlerError('agent.failed', `the agent failed: ${redact(error)}`)
      if (exitCode === 0 && isDone) return text
      const how = exitCode === undefined ? `signal ${signal}` : `exit code ${exitCode}`
      const why = exitCode === 0 ? 'without a result' : `with ${how}`
      throw handlerError('agent.failed', `the agent ended ${why}: ${redact(stderr)}`)
    },
  }
}

/** Agents also print lines that are not JSON, for example notices about updates. */
function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value = parseJson(line, LIMITS)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const fence = /^```(?:json)?\s*\n([\s\S]*?)\n```\s*$/

function readCliResult(blueprint: Blueprint, text: string): RunResult {
  if (blueprint.output_schema === undefined) return { result_text: text, result_data: null }
  const json = fence.exec(text.trim())?.[1] ?? text
  return readJsonResult(blueprint, json, { limits: LIMITS, source: 'the agent answered with something' })
}
