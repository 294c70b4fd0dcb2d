import { realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'

/** The variables that every child inherits. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

/** Variables that make a program load code or change how a shell parses commands. A hook must not pass them on. */
const refused = new Set([
  ...['PATH', 'IFS', 'ENV', 'BASH_ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'PROMPT_COMMAND', 'ZDOTDIR'],
  ...['NODE_OPTIONS', 'NODE_PATH'],
  ...['PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP', 'PERL5LIB', 'PERL5OPT', 'PERLLIB', 'RUBYOPT', 'RUBYLIB'],
  ...['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'GCONV_PATH'],
])
/** Prefixes of refused variables. HOOKHELM_ variables include our own keys and tokens. */
const refusedFamilies = /^(?:LD_|DYLD_|BASH_FUNC_|HOOKHELM_)/

/** The environment of a child: inherited variables, allowed ones that exist, then its own. */
export function childEnvironment(
  allowed: readonly string[],
  own: Readonly<Record<string, string>>,
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of [...inherited, ...allowed]) {
    const value = from[name]
    if (value !== undefined) env[name] = value
  }
  return { ...env, ...own }
}

/** Throws `config.field` if a variable may not be passed on. `at` is the field that names it. */
export function assertPassableVariables(names: readonly string[], at: string): void {
  for (const name of names) {
    const shown = JSON.stringify(name.slice(0, 80))
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new HookError('config.field', `${at}: ${shown} is not the name of a variable`, { at })
    const upper = name.toUpperCase()
    if (refused.has(upper) || refusedFamilies.test(upper))
      throw new HookError('config.field', `${at}: ${shown} may not be passed on to commands`, { at })
  }
}

/**
 * Resolves the working directory and all its symbolic links. Throws `process.cwd` if it is not a directory, or outside of
 * `root`: a link in a workspace must not lead a command elsewhere.
 */
export async function resolveDirectory(cwd: string, root: string | undefined): Promise<string> {
  const from = root ?? process.cwd()
  const real = await realDirectory(resolve(from, cwd))
  if (root === undefined) return real
  const inside = await realDirectory(root)
  if (real === inside || real.startsWith(inside.endsWith(sep) ? inside : inside + sep)) return real
  throw handlerError('process.cwd', `the directory ${cwd.slice(0, 200)} is outside of the workspace`)
}

async function realDirectory(path: string): Promise<string> {
  try {
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (cause) {
    throw handlerError('process.cwd', `there is no directory ${path.slice(0, 200)}`, { cause })
  }
  throw handlerError('process.cwd', `${path.slice(0, 200)} is not a directory`)
}
