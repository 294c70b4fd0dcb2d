import type { DecisionSource } from '../../client/decider.ts'
import type { RunnableAgent } from '../../engine/core/coding-agents.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { after } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { Models } from '../../handlers/model/models.ts'
import type { ProcessResult, ProcessSpec } from '../../safe/process/process-spec.ts'
import { type Blueprint, readBlueprint } from '../blueprints/blueprint.ts'
import { checkExecutor, type ExecutorSettings, executorOf } from '../executor.ts'
import type { NewSessionEvent, RunResult } from '../run-events.ts'
import { executeCli } from './execute-cli.ts'
import { executeCommand, type RunOrder } from './execute-command.ts'
import type { StoredMessages } from './model/model-history.ts'
import { findRunFolder, type RunFolders } from './run-folder.ts'
import { promptOf } from './run-prompt.ts'

const DEFAULT_SECONDS = 3_600

/** What a runner lends to every run. */
export interface RunnerMeans extends RunFolders {
  /** The profile that the runner serves. Without it, blueprints bring their own executor. */
  readonly profile?: ExecutorSettings
  readonly models: Models
  readonly decisions: DecisionSource
  /** Whether the tool calls of a coding agent reach the hooks, in this folder and with these variables. */
  isConnected(agent: RunnableAgent, folder: string, env: Readonly<Record<string, string>>): boolean
  readonly clock: Clock
  readonly log: Log
}

/** What belongs to one run. */
export interface RunExecution {
  readonly signal: AbortSignal
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>
  emit(event: NewSessionEvent): void
  /** Stores the executor's own id of the session, so that a later run can continue it. */
  onSession(id: string): void
  /** The id that an earlier run of the session stored. */
  findSession(): Promise<string | undefined>
  /** Stores an event without shortening it. */
  keep(event: NewSessionEvent): void
  /** The messages of a model that earlier runs of the session kept. */
  findMessages(): Promise<readonly StoredMessages[]>
  /** Charges tokens to the budget of the tenant. Rejects if nothing is left of it. */
  spendTokens(count: number): Promise<void>
}

/** Executes a run and returns its result. Rejects if it fails, is stopped, or takes too long. */
export async function executeRun(
  run: RunOrder & { readonly blueprint: Readonly<Record<string, unknown>> },
  means: RunnerMeans,
  execution: RunExecution,
): Promise<RunResult> {
  const { blueprint } = readBlueprint(run.blueprint, means.profile === undefined ? 'lite' : 'standard')
  const settings = means.profile ?? executorOf(blueprint)
  checkExecutor(settings)
  const seconds = blueprint.executor?.timeout_seconds ?? settings.timeout_seconds ?? DEFAULT_SECONDS
  const late = new AbortController()
  const callOff = after(means.clock, seconds * 1_000, () => late.abort())
  const limited = { ...execution, signal: AbortSignal.any([execution.signal, late.signal]) }
  return executeWith(settings, { blueprint, run }, { ...means, ...limited })
    .catch((thrown: unknown) => {
      if (late.signal.aborted && !execution.signal.aborted)
        throw handlerError('process.timeout', `the run took longer than ${seconds} s and was ended`)
      throw thrown
    })
    .finally(callOff)
}

async function executeWith(
  settings: ExecutorSettings,
  { blueprint, run: order }: { readonly blueprint: Blueprint; readonly run: RunOrder },
  parts: RunnerMeans & RunExecution,
): Promise<RunResult> {
  const { type = 'command', command = [], pinned_files: pinned = [], agent } = settings
  // A coding agent names its session itself. Without that name, calls of unknown sessions may belong to this run.
  if (type !== 'cli') parts.onSession(order.session_id)
  const folder = await findRunFolder(order.project_dir, parts)
  if (type === 'command') {
    const { run, signal } = parts
    return executeCommand(blueprint, order, { argv: command, pinned, folder, run, signal })
  }
  if (type === 'cli') {
    if (agent === undefined) throw handlerError('process.start', 'the executor names no coding agent')
    const resume = order.type === 'resume_session' ? await requireSession(parts) : undefined
    const cli = { ...parts, settings: { ...settings, agent }, folder, prompt: promptOf(order) }
    return executeCli(blueprint, order, resume === undefined ? cli : { ...cli, resume })
  }
  const served = await parts.models.find(blueprint.model)
  // The AI SDK is an optional package; `find` has said so if it is missing.
  const { executeModel } = await import('./model/execute-model.ts')
  return executeModel(blueprint, order, { ...parts, settings, folder, served, prompt: promptOf(order) })
}

async function requireSession({ findSession }: RunExecution): Promise<string> {
  const found = await findSession()
  if (found !== undefined) return found
  throw serverError(
    'gateway.conflict',
    'the coding agent never began this session, so it cannot be resumed',
    {
      hint: 'Start a new session.',
    },
  )
}
