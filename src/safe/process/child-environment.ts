import { realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { HookError } from '../../engine/core/error.ts'

/** What every child sees of our environment. */
const always = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

/** Variables that make a program load code, or a shell read its line differently: a list of names must not add them. */
const refused = new Set([
  ...['PATH', 'IFS', 'ENV', 'BASH_ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'PROMPT_COMMAND', 'ZDOTDIR'],
  ...['NODE_OPTIONS', 'NODE_PATH'],
  ...['PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP', 'PERL5LIB', 'PERL5OPT', 'PERLLIB', 'RUBYOPT', 'RUBYLIB'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'GCONV_PATH'],
])
/** Whole families; HOOKHELM_ is ours, and our own keys and tokens are among it. */
const refusedFamilies = /^(?:LD_|DYLD_|BASH_FUNC_|HOOKHELM_)/

/** Why a variable may not be passed on, or nothing. */
function refuseVariable(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return 'is not the name of a variable'
  const upper = name.toUpperCase()
  if (refused.has(upper) || refusedFamilies.test(upper)) return 'may not be passed on to commands'
  return undefined
}

/** The environment of a child: what is always there, what the list names and exists, then its own variables. */
export function environment(
  allowed: readonly string[],
  own: Readonly<Record<string, string>>,
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of [...always, ...allowed]) {
    const value = from[name]
    if (value !== undefined) env[name] = value
  }
  return { ...env, ...own }
}

export function checkVariables(names: readonly string[], at: string): void {
  for (const name of names) {
    const problem = refuseVariable(name)
    if (problem !== undefined) {
      throw new HookError('config.field', `${at}: ${JSON.stringify(name.slice(0, 80))} ${problem}`, { at })
    }
  }
}

/**
 * The directory to run in, with every link followed. With a root it must lie inside, or a link in a workspace would
 * lead a command anywhere.
 */
export async function checkDirectory(cwd: string, root: string | undefined): Promise<string> {
  const from = root ?? process.cwd()
  const real = await follow(resolve(from, cwd))
  if (root === undefined) return real
  const inside = await follow(root)
  if (real === inside || real.startsWith(inside.endsWith(sep) ? inside : inside + sep)) return real
  throw new HookError('process.cwd', `the directory ${cwd.slice(0, 200)} lies outside of the workspace`)
}

async function follow(path: string): Promise<string> {
  try {
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (cause) {
    throw new HookError('process.cwd', `there is no directory ${path.slice(0, 200)}`, { cause })
  }
  throw new HookError('process.cwd', `${path.slice(0, 200)} is not a directory`)
}
