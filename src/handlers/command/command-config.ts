import { nonEmpty } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import type { PinnedFile } from '../../safe/pinned-file.ts'
import { assertPassableVariables } from '../../safe/process/child-environment.ts'
import { shellArgv } from '../../safe/process/process-spec.ts'
import { configError } from '../handler-type.ts'
import {
  type ConfiguredShape,
  type FindPayloadShape,
  payloadFields,
  readPayloadSettings,
} from '../payload-shapes.ts'
import type { Placeholder } from '../placeholders.ts'
import { shellLine } from './shell-line.ts'

const formats = ['hookhelm', 'openharness', 'openharness-seed'] as const
type Format = (typeof formats)[number]

/** The files that a command may use only with this content. */
export const pinnedFilesSchema = schema.list(
  schema.object({
    path: nonEmpty('Absolute, or relative to the working directory.'),
    sha256: schema.optional(
      schema.text('SHA-256 of the content in hex. Without it the file must not exist.'),
    ),
    link: schema.optional(schema.boolean('The path may be a symbolic link.')),
  }),
  'Files that must be unchanged, otherwise the hook fails with `trust.script` and runs nothing. `hookhelm trust` pins the scripts of a repository.',
)

export const commandSchema = schema.object(
  schema.partial({
    command: schema.text(
      'A line for `sh -c`. `$ARGUMENTS` is replaced with the event as JSON. Either `command` or `exec` is required.',
    ),
    exec: schema.list(schema.text(), 'A program and its arguments, started without a shell.', {
      minItems: 1,
    }),
    cwd: schema.text('The working directory. Without it, the directory of the session or of Hookhelm.'),
    allowed_env_vars: schema.list(
      schema.text(),
      'Names of further environment variables that the command may see.',
    ),
    ...payloadFields,
    worker: schema.boolean('Keep one process running and send it one JSON line per event.'),
    format: schema.choice(
      formats,
      'How the exit code and the output are read: `hookhelm` (default), or as OpenHarness and its older form do.',
    ),
    pinned_files: pinnedFilesSchema,
    block_on_failure: schema.boolean('OpenHarness formats only: a failed command blocks.'),
    can_block: schema.boolean('Another spelling of `block_on_failure`.'),
  }),
)
type CommandSettings = SchemaType<typeof commandSchema>

/** The config of a command hook, prepared for running. */
export interface CommandConfig {
  readonly argv: readonly string[]
  /** Environment variables that carry parts of the event to the shell line. */
  readonly variables: Readonly<Record<string, Placeholder>>
  /** Placeholders to replace in `argv`. This is safe only without a shell. */
  readonly inArgv: readonly Placeholder[]
  readonly cwd: string | undefined
  readonly allowedEnv: readonly string[]
  readonly pinnedFiles: readonly PinnedFile[]
  readonly worker: boolean
  readonly format: Format
  /** OpenHarness: a failure of this hook blocks. */
  readonly mayBlock: boolean
  /** The form of the event, if the hook was written for an agent. */
  readonly shape: ConfiguredShape | undefined
}

const placeholders: Readonly<Record<Format, readonly Placeholder[]>> = {
  hookhelm: ['$ARGUMENTS'],
  openharness: ['$ARGUMENTS'],
  'openharness-seed': ['$ARGUMENTS', '{file}', '{tool_name}', '{args}', '{result}'],
}

export function readCommandConfig(settings: CommandSettings, findShape?: FindPayloadShape): CommandConfig {
  const { format = 'hookhelm', worker = false, allowed_env_vars: allowedEnv = [], cwd } = settings
  const { pinned_files: pinnedFiles = [] } = settings
  assertPassableVariables(allowedEnv, 'config.allowed_env_vars')
  const program = readProgram(settings, format)
  if (worker && format !== 'hookhelm')
    throw configError('worker', `config.worker cannot be used with the format ${format}`)
  if (worker && (Object.keys(program.variables).length > 0 || program.inArgv.length > 0))
    throw configError('worker', '$ARGUMENTS is one event, and a worker reads many events from stdin')
  const mayBlock = settings.can_block === true || settings.block_on_failure === true
  const shape = readPayloadSettings(settings, findShape)
  return { ...program, cwd, allowedEnv, pinnedFiles, worker, format, mayBlock, shape }
}

type Program = Pick<CommandConfig, 'argv' | 'variables' | 'inArgv'>

function readProgram({ command, exec }: CommandSettings, format: Format): Program {
  const names = placeholders[format]
  if (exec !== undefined) {
    if (command !== undefined)
      throw configError('exec', 'config has both command and exec; only one is allowed')
    const [program = ''] = exec
    if (program === '' || names.some((name) => program.includes(name)))
      throw configError('exec', 'config.exec must begin with a program, not with a part of the event')
    const inArgv = names.filter((name) => exec.some((item) => item.includes(name)))
    return { argv: exec, variables: {}, inArgv }
  }
  const text = command?.trim()
  if (!text)
    throw configError('command', 'config.command is required: a shell line, or exec with a list of arguments')
  const { line, variables } = shellLine(text, names)
  return { argv: shellArgv(line), variables, inArgv: [] }
}
