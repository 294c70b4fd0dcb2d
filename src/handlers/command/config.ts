import { isRecord } from '../../engine/core/check.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { assertPassableVariables } from '../../safe/process/child-environment.ts'
import { shellArgv } from '../../safe/process/process-spec.ts'
import { readFlag, unknownField, wrongField } from '../config-fields.ts'
import type { Placeholder } from '../placeholders.ts'
import { shellLine } from './shell-line.ts'

/**
 * How a command is spoken to and understood. `openharness` fails on every exit code but 0 and blocks only where it
 * may; `openharness-seed` is its older form, with placeholders in braces and stdout alone as the reason.
 */
const formats = ['hookhelm', 'openharness', 'openharness-seed'] as const
type Format = (typeof formats)[number]

export interface CommandConfig {
  readonly argv: readonly string[]
  /** Variables of the payload that the shell line uses. */
  readonly variables: Readonly<Record<string, Placeholder>>
  /** Placeholders to fill into the arguments themselves: without a shell there is nothing to break out of. */
  readonly inArgv: readonly Placeholder[]
  readonly cwd: string | undefined
  readonly allowedEnv: readonly string[]
  readonly worker: boolean
  readonly format: Format
  /** OpenHarness: a failure of this hook blocks. */
  readonly mayBlock: boolean
}

const keys = [
  'command',
  'exec',
  'cwd',
  'allowed_env_vars',
  'worker',
  'format',
  'can_block',
  'block_on_failure',
]
const placeholders: Readonly<Record<Format, readonly Placeholder[]>> = {
  hookhelm: ['$ARGUMENTS'],
  openharness: ['$ARGUMENTS'],
  'openharness-seed': ['$ARGUMENTS', '{file}', '{tool_name}', '{args}', '{result}'],
}

export function readCommandConfig(config: unknown, hook: BaseHook): CommandConfig {
  if (!isRecord(config)) throw wrongField('config', 'a command hook needs a config with a command')
  for (const key of Object.keys(config)) {
    if (!keys.includes(key)) throw unknownField(key, keys, 'a command hook')
  }
  const format = readFormat(config.format)
  const cwd = readText(config.cwd, 'config.cwd')
  const allowedEnv = readTexts(config.allowed_env_vars, 'config.allowed_env_vars') ?? []
  assertPassableVariables(allowedEnv, 'config.allowed_env_vars')
  const worker = readFlag(config, 'worker')
  if (worker && format !== 'hookhelm')
    throw wrongField('config.worker', `does not speak the format ${format}`)
  const mayBlock = readFlag(config, 'can_block') || readFlag(config, 'block_on_failure')
  const program = readProgram(config, format)
  if (worker && (Object.keys(program.variables).length > 0 || program.inArgv.length > 0)) {
    throw wrongField(
      'config.worker',
      `hook ${hook.id ?? ''}: $ARGUMENTS is one event, a worker gets many on stdin`,
    )
  }
  return { ...program, cwd, allowedEnv, worker, format, mayBlock }
}

type Program = Pick<CommandConfig, 'argv' | 'variables' | 'inArgv'>

function readProgram({ command, exec }: Record<string, unknown>, format: Format): Program {
  const names = placeholders[format]
  const argv = readTexts(exec, 'config.exec')
  const text = readText(command, 'config.command')?.trim()
  if (argv !== undefined && command !== undefined)
    throw wrongField('config.exec', 'cannot stand beside a command')
  if (argv !== undefined) {
    if (!argv[0]) throw wrongField('config.exec', 'must begin with a program')
    const [program = ''] = argv
    if (names.some((name) => program.includes(name)))
      throw wrongField('config.exec', 'must begin with a program, not with a piece of the event')
    return { argv, variables: {}, inArgv: names.filter((name) => argv.some((item) => item.includes(name))) }
  }
  if (!text) throw wrongField('config.command', 'is required: a shell line, or exec with a list of arguments')
  const { line, variables } = shellLine(text, names)
  return { argv: shellArgv(line), variables, inArgv: [] }
}

function readFormat(value: unknown): Format {
  if (value === undefined) return 'hookhelm'
  const format = formats.find((known) => known === value)
  if (format === undefined) throw wrongField('config.format', `must be one of ${formats.join(', ')}`)
  return format
}

function readText(value: unknown, at: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw wrongField(at, 'must be text')
}

function readTexts(value: unknown, at: string): readonly string[] | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw wrongField(at, 'must be a list of texts')
}
