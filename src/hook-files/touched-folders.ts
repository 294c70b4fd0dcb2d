import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import type { Envelope } from '../engine/core/context.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { AnalyzeShell, Certainty, ShellCommand, ShellEffects } from '../engine/core/shell-effects.ts'
import { createEffectsReader, type ReadEffects } from '../engine/match/effects/call-effects.ts'
import { pathsOverlap } from '../engine/match/effects/path-overlap.ts'
import { type FindOptions, HOOK_FOLDER, hookFileIn } from './hook-folders.ts'
import type { TrustStore } from './trust.ts'
import { filesFingerprint } from './watch/folder-changes.ts'

export type FindTouchedFolders = (
  payload: unknown,
  envelope: Envelope,
  own: Required<Pick<FindOptions, 'cwd' | 'start'>>,
) => TouchedFolders

interface TouchedFolders {
  /** The folders with hook files that a tool call touches, without those around the folders that the agent works in. */
  readonly touched: readonly string[]
  /** What was read about the call. */
  readonly effects?: ReadEffects
}

interface TouchedFoldersParts {
  readonly analyze: AnalyzeShell
  readonly trust: TrustStore
}

/** Each of them is read and watched. A call that touches more is not decided. */
const MAX_TOUCHED = 32

/** Programs whose arguments are text. */
const printing = new Set(['echo', 'printf'])

/** Looks at what a call does: the folders in which its commands run, and the files that they and the tool name. */
export function createTouchedFolders({ analyze, trust }: TouchedFoldersParts): FindTouchedFolders {
  const trustedFolders = rememberTrusted(trust)
  return (payload, envelope, { cwd, start }) => {
    if (!isRecord(payload) || typeof payload.tool_name !== 'string') return { touched: [] }
    const own = [cwd, start].map(realPath)
    const isAbove = (folder: string) =>
      own.some((each) => each === folder || each.startsWith(join(folder, '/')))
    const trusted = trustedFolders()
    const found = new Set<string>()
    const seen = new Set<string>()
    const add = (folder: string) => {
      const real = realPath(folder)
      if (!isAbove(real)) found.add(real)
    }
    const effects = createEffectsReader(analyze)
    for (const { path, certainty } of namedPaths(effects(payload, envelope).all())) {
      const known = certainty === 'exact' ? path : knownFolder(path)
      for (let folder = realPath(known); !isAbove(folder) && !seen.has(folder); folder = dirname(folder)) {
        seen.add(folder)
        if (trusted.has(folder) || hasHookFile(folder)) add(folder)
      }
      if (certainty !== 'pattern') continue
      for (const folder of trusted) if (pathsOverlap(`${folder}/*`, path)) add(folder)
    }
    if (found.size > MAX_TOUCHED)
      throw serverError(
        'config.hook_file',
        `the call touches more than ${MAX_TOUCHED} folders with hook files`,
      )
    return { touched: [...found].sort(), effects }
  }
}

interface NamedPath {
  readonly path: string
  readonly certainty: Certainty
}

function namedPaths({ commands, writes, reads, deletes }: ShellEffects): readonly NamedPath[] {
  const files = [...writes, ...reads, ...deletes].flatMap(({ path, target, certainty }) => [
    { path, certainty },
    ...(target === undefined ? [] : [{ path: target, certainty }]),
  ])
  return [...commands.flatMap(pathsOfCommand), ...files].filter(({ path }) => path.startsWith('/'))
}

/** Not every program says what it does with a path, as `git -C`, so every argument may be one. */
function pathsOfCommand({ program, path, args, cwd, remote }: ShellCommand): readonly NamedPath[] {
  if (cwd === undefined || remote !== undefined) return []
  const named = printing.has(program) ? [] : args
  return [
    { path: cwd, certainty: 'exact' },
    ...(path === undefined ? [] : [{ path: posix.resolve(cwd, path), certainty: 'exact' as const }]),
    ...named.flatMap(({ text, certainty }) => {
      const name = text.replace(/^--?[\w-]+=|^-\w(?=[/.])/, '')
      return name.startsWith('-') ? [] : [{ path: posix.resolve(cwd, name), certainty }]
    }),
  ]
}

/** The folder around what the shell replaces. */
function knownFolder(path: string): string {
  return dirname(path.replace(/[*?[{$`].*$/s, '-'))
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

/** A file that cannot be read counts: it closes the gates of its folder. */
function hasHookFile(folder: string): boolean {
  const hookFolder = join(folder, HOOK_FOLDER)
  if (!existsSync(hookFolder)) return false
  try {
    return hookFileIn(hookFolder) !== undefined
  } catch {
    return true
  }
}

/** The folders with trusted files, which count although their file is gone. Reads the trust store when it has changed. */
function rememberTrusted({ file, paths }: TrustStore): () => ReadonlySet<string> {
  let fingerprint: string | undefined
  let folders: ReadonlySet<string> = new Set()
  return () => {
    const now = filesFingerprint([file])
    if (now === fingerprint) return folders
    try {
      folders = new Set(paths().map((path) => dirname(dirname(path))))
      fingerprint = now
    } catch {
      // The folder that the agent works in reports it; until then the folders that are known count.
    }
    return folders
  }
}
