import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isRecord } from '../engine/core/schema/check.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { hashFile, type PinnedFile, type PinnedFileState, pinnedFileState } from '../safe/pinned-file.ts'
import { type CommandWord, execWords, shellWords } from './command-words.ts'
import { outermostRepository } from './hook-folders.ts'

/** Absolute path → the content that the script had when its hook file was trusted. */
export type TrustedScripts = Readonly<Record<string, Omit<PinnedFile, 'path'>>>

/**
 * Hashes the files inside the repository that the commands of a hook file name. Programs that do not exist are recorded
 * as missing, so that a file that appears later is not run.
 */
export function recordScripts(definitions: readonly HookDefinition[], hookFolder: string): TrustedScripts {
  const repository = outermostRepository(dirname(hookFolder)) ?? dirname(hookFolder)
  const named = definitions.flatMap((definition) => namedFiles(definition, hookFolder))
  const recorded = named.flatMap(({ file, isProgram }) => {
    const stats = statsOf(file)
    if (stats === undefined) return isProgram && isInside(file, repository) ? [[file, {}] as const] : []
    const link = stats.isSymbolicLink()
    if (!isInside(file, repository) && !isInside(realPath(file), repository)) return []
    const sha256 = hashFile(file, link)
    return sha256 === undefined ? [] : [[file, link ? { sha256, link } : { sha256 }] as const]
  })
  return Object.fromEntries(recorded)
}

/** Gives every command the pins of the files that it names. */
export function pinScripts(
  definitions: readonly HookDefinition[],
  scripts: TrustedScripts,
  hookFolder: string,
): HookDefinition[] {
  return definitions.map((definition) => {
    const pins = namedFiles(definition, hookFolder).flatMap(({ path, file }): PinnedFile[] => {
      const script = Object.hasOwn(scripts, file) ? scripts[file] : undefined
      return script === undefined ? [] : [{ path, ...script }]
    })
    const { config } = definition
    if (pins.length === 0 || !isRecord(config)) return definition
    const own = Array.isArray(config.pinned_files) ? config.pinned_files : []
    return { ...definition, config: { ...config, pinned_files: [...own, ...pins] } }
  })
}

/** The trusted scripts that are no longer as they were, each with the reason. */
export function changedScripts(
  scripts: TrustedScripts,
): { readonly path: string; readonly state: Exclude<PinnedFileState, 'same'> }[] {
  return Object.entries(scripts).flatMap(([path, script]) => {
    const state = pinnedFileState({ path, ...script }, '/')
    return state === 'same' ? [] : [{ path, state }]
  })
}

/** Whether a hook file names files of its repository that its trust does not cover. */
export function namesScripts(definitions: readonly HookDefinition[], hookFolder: string): boolean {
  return Object.keys(recordScripts(definitions, hookFolder)).length > 0
}

/** The words that name files. `file` is absolute, for a command that runs in the folder that holds the hook folder. */
function namedFiles(
  { handler_type, config }: HookDefinition,
  hookFolder: string,
): (CommandWord & { readonly file: string })[] {
  if (handler_type !== 'command' || !isRecord(config)) return []
  const project = dirname(hookFolder)
  const folders = { project, home: homedir() }
  const { command, exec, cwd } = config
  const words = [
    ...(typeof command === 'string' ? shellWords(command, folders) : []),
    ...(Array.isArray(exec) ? execWords(exec.map(String), folders) : []),
  ]
  const base = typeof cwd === 'string' ? resolve(project, cwd) : project
  const files = words.map((word) => ({ ...word, file: resolve(base, word.path) }))
  // A word that occurs twice is a program if it is one in one of the two positions.
  const byPath = new Map<string, ReturnType<typeof namedFiles>[number]>()
  for (const file of files)
    byPath.set(file.path, { ...file, isProgram: file.isProgram || byPath.get(file.path)?.isProgram === true })
  return [...byPath.values()]
}

function statsOf(file: string): Stats | undefined {
  try {
    return lstatSync(file)
  } catch {
    return undefined
  }
}

function isInside(file: string, folder: string): boolean {
  return file.startsWith(join(folder, '/'))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
