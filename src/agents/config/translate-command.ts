import { dirname } from 'node:path'
import { present } from '../../hook-files/formats/import-format.ts'

/** A command as an agent's hook file describes it. */
export interface ForeignCommand {
  /** A line for the shell, or the program if there are arguments. */
  readonly line: string
  readonly args?: readonly string[] | undefined
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** What the import of a command depends on besides the command. */
export interface CommandOrigin {
  /** The file that is imported. */
  readonly file: string
  /** Variables that the payload of the agent sets. */
  readonly variables: readonly string[]
  /** Variables and placeholders for the folder of a plugin, which no payload sets. */
  readonly pluginRoots: readonly string[]
}

/** The config of a command hook, or why the command cannot run here. */
export type ImportedCommand =
  | { readonly config: Readonly<Record<string, unknown>> }
  | { readonly problem: string; readonly hint: string }

const windowsOnly = /^\s*"?(?:\S*[\\/])?(?:powershell|cmd)(?:\.exe)?"?\s|\.(?:ps1|bat|cmd)\b/i

/** Translates a command. Folders of plugins are filled in, and variables and folders of its own move into the command. */
export function translateCommand(given: ForeignCommand, origin: CommandOrigin): ImportedCommand {
  const filled = fillPluginRoot(given, origin)
  if (typeof filled === 'string')
    return {
      problem: `${filled} is not set here, so the command would not be found`,
      hint: 'Write the path of the plugin instead, or import the `hooks/hooks.json` inside the plugin.',
    }
  const { line, args, cwd, env = {} } = filled
  if (windowsOnly.test(line))
    return { problem: 'this command runs on Windows only', hint: 'Write a command for sh.' }
  const isAbsolute = cwd?.startsWith('/') === true
  const folder = cwd === undefined || isAbsolute || cwd === '.' ? undefined : cwd
  const variables = Object.entries(env)
  const program =
    args === undefined
      ? shellProgram(withFolderAndVariables(line, folder, variables))
      : { exec: execProgram([line, ...args], folder, variables) }
  const needed = referencedVariables([line, ...(args ?? [])].join('\n'), origin.variables)
  return {
    config: present({
      ...program,
      cwd: isAbsolute ? cwd : undefined,
      allowed_env_vars: needed.length === 0 ? undefined : needed,
    }),
  }
}

/** The command with the plugin's folder, or the placeholder for a folder that is unknown. */
function fillPluginRoot(
  given: ForeignCommand,
  { file, pluginRoots }: CommandOrigin,
): ForeignCommand | string {
  const texts = [given.line, ...(given.args ?? [])].join('\n')
  const missing = pluginRoots.find((name) => texts.includes(`\${${name}}`) || texts.includes(`$${name}`))
  if (missing === undefined) return given
  // A plugin keeps its hooks in `<plugin>/hooks/hooks.json`.
  if (!/[\\/]hooks[\\/][^\\/]+\.json$/.test(file)) return missing
  const root = dirname(dirname(file))
  const fill = (text: string) =>
    pluginRoots.reduce(
      (filled, name) => filled.replaceAll(`\${${name}}`, root).replaceAll(`$${name}`, root),
      text,
    )
  return { ...given, line: fill(given.line), args: given.args?.map(fill) }
}

/** Syntax that bash has and sh does not. */
const bashOnly =
  /\[\[|<<<|<\(|&>|\|&|\$\{[^}]*(?:\/\/|,,|\^\^|\[)|=~|\bpipefail\b|\bfunction\s|(?:^|[;\s])(?:source|declare|local)\s|\w=\(/

function shellProgram(line: string): { readonly command: string } | { readonly exec: readonly string[] } {
  return bashOnly.test(line) ? { exec: ['bash', '-c', line] } : { command: line }
}

type Variables = readonly (readonly [string, string])[]

function withFolderAndVariables(line: string, folder: string | undefined, variables: Variables): string {
  const exports = variables.map(([name, value]) => `${name}=${quoted(value)}`).join(' ')
  return [
    ...(folder === undefined ? [] : [`cd ${quoted(folder)} &&`]),
    ...(exports === '' ? [] : [`export ${exports};`]),
    line,
  ].join(' ')
}

function execProgram(
  argv: readonly string[],
  folder: string | undefined,
  variables: Variables,
): readonly string[] {
  const settings = variables.map(([name, value]) => `${name}=${value}`)
  const started = settings.length === 0 ? argv : ['env', ...settings, ...argv]
  return folder === undefined
    ? started
    : ['sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', folder, ...started]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Always there, or set by the shell itself. */
const alwaysSet = [
  'PATH',
  'HOME',
  'LANG',
  'TMPDIR',
  'PWD',
  'OLDPWD',
  'IFS',
  'PPID',
  'UID',
  'HOSTNAME',
  'RANDOM',
]

/** The variables that a command reads from its environment: those that it names and does not set itself. */
function referencedVariables(text: string, known: readonly string[]): readonly string[] {
  const named = [...text.matchAll(/\$\{?([A-Z_][A-Z0-9_]*)/g)].map(([, name = '']) => name)
  const set = new Set([...text.matchAll(/\b([A-Z_][A-Z0-9_]*)=/g)].map(([, name = '']) => name))
  const readByShell = new Set(
    [...text.matchAll(/\bread\s+(?:-\w+\s+)*([A-Z_][A-Z0-9_]*)/g)].map(([, name]) => name),
  )
  return [...new Set(named)].filter(
    (name) =>
      !set.has(name) &&
      !readByShell.has(name) &&
      !alwaysSet.includes(name) &&
      !known.includes(name) &&
      !name.startsWith('HOOKHELM_') &&
      name !== 'ARGUMENTS',
  )
}
