import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { type JsonOptions, parseJson } from '../../safe/json.ts'
import { assertPinnedFiles, type PinnedFile } from '../../safe/pinned-file.ts'
import { childEnvironment } from '../../safe/process/child-environment.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { answersWithText, type Blueprint, checkOutput } from '../blueprints/blueprint.ts'
import type { RunResult } from '../run-events.ts'
import type { RunRow } from '../stored/run-tables.ts'
import type { RunExecution } from './execute-run.ts'

const MAX_OUTPUT_BYTES = 16 * 1_048_576
/** Results are trusted to be as large as a run may print. */
const LIMITS = { maxBytes: MAX_OUTPUT_BYTES, maxDepth: 256, maxKeys: 1_000_000 }

/** A run as its runner gets it. */
export interface RunOrder
  extends Pick<RunRow, 'run_id' | 'session_id' | 'type' | 'parent_session_id' | 'agent_name' | 'parameters'>,
    Pick<RunRow, 'project_dir' | 'depth'> {
  /** Tells the gateway that a tool call belongs to this run; set if hooks of the run must see its calls. */
  readonly proof?: string
}

interface CommandExecution extends Pick<RunExecution, 'run' | 'signal'> {
  readonly argv: readonly string[]
  /** Files that must have the content with which they were trusted. */
  readonly pinned: readonly PinnedFile[]
  readonly folder: string
}

/** Runs the command of an agent: its parameters as JSON on stdin, its result on stdout. Rejects if it fails. */
export async function executeCommand(
  blueprint: Blueprint,
  order: RunOrder,
  { argv, pinned, folder, run, signal }: CommandExecution,
): Promise<RunResult> {
  assertPinnedFiles(pinned, folder)
  const spec = {
    ...{ argv, cwd: folder, env: environmentOf(order) },
    stdin: JSON.stringify(order.parameters ?? {}),
    maxOutputBytes: MAX_OUTPUT_BYTES,
  }
  const ended = await run(spec, signal)
  if (ended.truncated) throw handlerError('process.output_limit', 'the command printed too much')
  if (ended.exitCode !== 0) {
    const how = ended.exitCode === undefined ? `signal ${ended.signal}` : `exit code ${ended.exitCode}`
    throw handlerError('process.exit', `the command ended with ${how}: ${redact(ended.stderr)}`)
  }
  return readResult(blueprint, ended.stdout)
}

/** What the command may need to talk about its run. It gets no token. */
export function environmentOf(
  { run_id, session_id, parent_session_id, agent_name, depth, proof }: RunOrder,
  allowed: readonly string[] = [],
) {
  return childEnvironment(allowed, {
    HOOKHELM_RUN_ID: run_id,
    HOOKHELM_SESSION_ID: session_id,
    HOOKHELM_AGENT_NAME: agent_name ?? '',
    HOOKHELM_DEPTH: String(depth),
    ...(proof === undefined ? {} : { HOOKHELM_RUN: proof }),
    ...(parent_session_id === null ? {} : { HOOKHELM_PARENT_SESSION_ID: parent_session_id }),
  })
}

function readResult(blueprint: Blueprint, stdout: string): RunResult {
  if (answersWithText(blueprint)) return { result_text: stdout.trimEnd(), result_data: null }
  return readJsonResult(blueprint, stdout, { limits: LIMITS, source: 'the command printed a result' })
}

/** The result of a run that answers with JSON. */
export function readJsonResult(
  blueprint: Blueprint,
  text: string,
  { limits, source }: { readonly limits: JsonOptions; readonly source: string },
): RunResult {
  const result_data = parseResult()
  const [violation] = checkOutput(blueprint, result_data)
  if (violation === undefined) return { result_text: null, result_data }
  const problem = `${violation.path || 'it'} ${violation.message}`
  throw handlerError('agent.output_schema', `the result does not fit output_schema: ${problem}`)

  function parseResult(): unknown {
    try {
      return parseJson(text, limits)
    } catch (thrown) {
      const why = thrown instanceof HookError ? thrown.message : 'it cannot be read'
      throw handlerError('agent.output_schema', `${source} that is not JSON: ${why}`)
    }
  }
}
