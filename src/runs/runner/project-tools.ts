import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { after } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { shellArgv } from '../../safe/process/process-spec.ts'
import type { RunExecution } from './execute-run.ts'
import type { AgentTool } from './model/model-loop.ts'

const MAX_FILE_BYTES = 4 * 1_048_576
const MAX_OUTPUT_BYTES = 1_048_576
const DEFAULT_LINES = 2_000
const BASH_MS = 120_000
const MAX_BASH_MS = 600_000

interface ProjectToolParts extends Pick<RunExecution, 'run'> {
  /** The folder of the run. Files outside of it are refused; commands start in it and are not confined to it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly clock: Clock
}

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 0 }

/** The tools of a model in a run, with the names and fields that every coding agent's calls are translated to. */
export function createProjectTools(
  parts: ProjectToolParts,
): Readonly<Record<'Bash' | 'Read' | 'Write' | 'Edit', AgentTool>> {
  const { folder } = parts
  return {
    Bash: {
      description: 'Runs a shell command in the folder of the project and returns its output.',
      input_schema: objectSchema({ command: text, description: text, timeout: whole }, ['command']),
      run: (input, signal) => runShell(parts, fieldsOf(input), signal),
    },
    Read: {
      description: 'Reads a text file of the project. offset and limit count lines.',
      input_schema: objectSchema({ file_path: text, offset: whole, limit: whole }, ['file_path']),
      async run(input) {
        const { file_path, offset = 0, limit = DEFAULT_LINES } = fieldsOf(input)
        const lines = (await readText(await projectPath(folder, file_path))).split('\n')
        return lines.slice(Number(offset), Number(offset) + Number(limit)).join('\n')
      },
    },
    Write: {
      description: 'Writes a file of the project, with its folders. An existing file is replaced.',
      input_schema: objectSchema({ file_path: text, content: text }, ['file_path', 'content']),
      async run(input) {
        const { file_path, content } = fieldsOf(input)
        const path = await projectPath(folder, file_path)
        await mkdir(dirname(path), { recursive: true })
        await writeText(path, String(content))
        return `wrote ${String(file_path)}`
      },
    },
    Edit: {
      description: 'Replaces old_string in a file. It must occur once, unless replace_all is true.',
      input_schema: objectSchema(
        { file_path: text, old_string: text, new_string: text, replace_all: { type: 'boolean' } },
        ['file_path', 'old_string', 'new_string'],
      ),
      run: (input) => editFile(folder, fieldsOf(input)),
    },
  }
}

function objectSchema(properties: Readonly<Record<string, unknown>>, required: readonly string[]) {
  return { type: 'object', properties, required, additionalProperties: false }
}

type ToolFields = Readonly<Record<string, unknown>>

/** The schema of the tool has been checked; this is for the type. */
function fieldsOf(input: unknown): ToolFields {
  return isRecord(input) ? input : {}
}

async function runShell(
  { folder, env, clock, run }: ProjectToolParts,
  { command, timeout = BASH_MS }: ToolFields,
  signal: AbortSignal,
): Promise<string> {
  const late = new AbortController()
  const callOff = after(clock, Math.min(Math.max(1, Number(timeout)), MAX_BASH_MS), () => late.abort())
  const spec = { argv: shellArgv(String(command)), cwd: folder, env, maxOutputBytes: MAX_OUTPUT_BYTES }
  const ended = await run(spec, AbortSignal.any([signal, late.signal])).finally(callOff)
  const output = [ended.stdout, ended.stderr].filter((part) => part !== '').join('\n')
  if (ended.truncated) throw handlerError('process.output_limit', `the command printed too much: ${output}`)
  if (ended.exitCode === 0) return output
  const how = ended.exitCode === undefined ? `signal ${ended.signal}` : `exit code ${ended.exitCode}`
  throw handlerError('process.exit', `the command ended with ${how}\n${output}`)
}

async function editFile(
  folder: string,
  { file_path, old_string, new_string, replace_all }: ToolFields,
): Promise<string> {
  const path = await projectPath(folder, file_path)
  const before = await readText(path)
  const [from, to] = [String(old_string), String(new_string)]
  const count = from === '' ? 0 : before.split(from).length - 1
  if (count === 0) throw handlerError('agent.failed', `old_string does not occur in ${String(file_path)}`)
  if (count > 1 && replace_all !== true)
    throw handlerError('agent.failed', `old_string occurs ${count} times in ${String(file_path)}`)
  await writeText(path, before.split(from).join(to))
  return `replaced ${count} in ${String(file_path)}`
}

/** The real path of a file in the folder, which need not exist yet. Links are followed before the check. */
async function projectPath(folder: string, given: unknown): Promise<string> {
  const root = await realpath(folder)
  const real = await realPathOf(resolve(root, String(given)))
  if (real?.startsWith(root.endsWith(sep) ? root : root + sep)) return real
  throw serverError(
    'runs.outside_project',
    `${String(given).slice(0, 200)} is not a file in the folder of the run`,
  )
}

/** Undefined for a link that leads nowhere: writing through it would make a file wherever it points. */
async function realPathOf(path: string): Promise<string | undefined> {
  const found = await realpath(path).catch(() => undefined)
  if (found !== undefined) return found
  if ((await lstat(path).catch(() => undefined)) !== undefined) return undefined
  const parent = dirname(path)
  if (parent === path) return undefined
  const above = await realPathOf(parent)
  return above === undefined ? undefined : join(above, basename(path))
}

async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw handlerError('agent.failed', `${path} is not a file`)
    if (stats.size > MAX_FILE_BYTES)
      throw handlerError('agent.failed', `${path} is larger than ${MAX_FILE_BYTES} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

async function writeText(path: string, content: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
  try {
    await file.writeFile(content)
  } finally {
    await file.close()
  }
}
