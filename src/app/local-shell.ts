import {
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type AnalyzeShell,
  type ShellContext,
  type ShellEffects,
  temporaryFolder,
} from '../engine/core/shell-effects.ts'
import { dataFolder, trustFile } from '../hook-files/hook-folders.ts'
import { lazyAnalyzeShell } from '../load-shell.ts'

const MAX_SCRIPT_BYTES = 262_144
/** How many files one analysis may look at. */
const MAX_LOOKUPS = 1_000
/** How many files with several names one analysis looks for, and among how many names of a folder. */
const MAX_SEARCHES = 4
const MAX_NAMES = 500

/** Analyses lines of this machine: it reads scripts that a line runs, and follows symbolic links. */
export const localShell: AnalyzeShell = (line, context) => {
  const { lookups, ...access } = fileAccess(context.cwd)
  const effects = lazyAnalyzeShell(line, {
    home: homedir(),
    guarded: guardedFolders,
    ...access,
    ...context,
  })
  return lookups() <= MAX_LOOKUPS ? effects : withLimitMark(effects)
}

/** The links among the other paths were not followed, so what the line does is not known. */
function withLimitMark(effects: ShellEffects): ShellEffects {
  const detail = `the line names more than ${MAX_LOOKUPS} files`
  return { ...effects, opaque: [...effects.opaque, { reason: 'budget', detail, at: 0 }] }
}

interface FileAccess extends Pick<ShellContext, 'readFile' | 'resolveLink' | 'hardLinks'> {
  lookups(): number
}

/** What the analyser may look up on this machine, within limits. */
function fileAccess(cwd: string | undefined): FileAccess {
  let lookups = 0
  let searches = 0
  const isAllowed = (path: string) => path.startsWith('/') && ++lookups <= MAX_LOOKUPS
  return {
    lookups: () => lookups,
    readFile: (path) => (isAllowed(path) ? readSmallFile(path) : undefined),
    resolveLink: (path) => (isAllowed(path) ? resolveExisting(path) : undefined),
    hardLinks(path) {
      const file = statsOf(path)
      if (!file?.isFile() || file.nlink < 2) return undefined
      const names = ++searches > MAX_SEARCHES ? [] : namesOf(path, file, cwd)
      return { names, missing: file.nlink - 1 - names.length }
    },
  }
}

/** What is mounted into a folder for temporary files is none of them; neither are the files of Hookhelm. */
function guardedFolders(): readonly string[] {
  return [dataFolder(), dirname(trustFile()), ...mountsInTemporary()]
}

/** The places of mounts that the kernel tells. Elsewhere than on Linux none are known. */
function mountsInTemporary(): readonly string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) =>
        (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, code: string) =>
          String.fromCharCode(Number.parseInt(code, 8)),
        ),
      )
      .filter((place) => place.replace(temporaryFolder, '').startsWith('/') && temporaryFolder.test(place))
  } catch {
    return []
  }
}

/** Other names of the file, in its own folder and in the folder of the session. */
function namesOf(path: string, { ino, dev }: Stats, cwd: string | undefined): readonly string[] {
  const folders = new Set([dirname(path), ...(cwd === undefined ? [] : [cwd])])
  return [...folders]
    .flatMap((folder) => namesIn(folder).slice(0, MAX_NAMES))
    .filter((name) => {
      const other = name === path ? undefined : statsOf(name)
      return other?.ino === ino && other.dev === dev
    })
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Only a regular file is opened: reading a pipe would wait for its writer. */
function readSmallFile(path: string): string | undefined {
  try {
    const found = statSync(path)
    return found.isFile() && found.size <= MAX_SCRIPT_BYTES ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}

/** Where the path leads; for a file that does not exist yet, where its link or its folder leads. */
function resolveExisting(path: string, depth = 0): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    if (folder === path || depth > 8) return undefined
    const resolved = resolveExisting(folder, depth + 1)
    if (resolved === undefined) return undefined
    const target = readLink(join(resolved, basename(path)))
    return target === undefined
      ? join(resolved, basename(path))
      : resolveExisting(resolve(resolved, target), depth + 1)
  }
}

/** What a link says, whether the file exists or not; undefined if the path is no link. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
