/** Where files with recovery rules are. Loads no package, because every local command does. */
import { dirname, join, resolve } from 'node:path'
import { findHookFolders } from '../../hook-files/hook-folders.ts'
import type { HookFileLevel } from '../../hook-files/read/load-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const RULE_FILE = 'hook-chains.json'
const DEFAULT_FILE = '.openclaude/hook-chains.json'

/** Whether `CLAUDE_CODE_ENABLE_HOOK_CHAINS` switches hook chains on. Without it they are off. */
export function isHookChainsEnabled(env: Environment): boolean {
  const value = env.CLAUDE_CODE_ENABLE_HOOK_CHAINS?.trim().toLowerCase() ?? ''
  return ['1', 'true', 'yes', 'on'].includes(value)
}

/** The path of the hook-chains file: the override, the variable, or the default, below the original directory. */
export function hookChainsPath(env: Environment, cwd: string, override?: string): string {
  return resolve(cwd, override ?? (env.CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH || DEFAULT_FILE))
}

/** The folder where an agent works, and the one where its session began. */
export interface RuleFolders {
  readonly cwd: string
  readonly start: string
}

export interface RuleFilePath {
  readonly path: string
  readonly level: HookFileLevel
}

/** The paths that rule files may have, the administrator's first. Files of OpenClaude need its own switch. */
export function ruleFilePaths(
  from: RuleFolders & { readonly env: Environment; readonly repositories: readonly string[] },
): readonly RuleFilePath[] {
  const { start, env } = from
  const folders = findHookFolders(from)
  const own = folders.map(({ folder, level }) => ({ path: join(folder, RULE_FILE), level }))
  if (!isHookChainsEnabled(env)) return own
  const foreign = env.CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH
    ? [hookChainsPath(env, start)]
    : folders
        .filter(({ level }) => level === 'repository')
        .map(({ folder }) => hookChainsPath(env, dirname(folder)))
  return [...own, ...foreign.map((path) => ({ path, level: 'repository' as const }))]
}
