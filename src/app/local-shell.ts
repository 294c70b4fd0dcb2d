import { readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { AnalyzeShell, ShellContext } from '../engine/core/shell-effects.ts'
import { lazyAnalyzeShell } from '../load-shell.ts'

const MAX_SCRIPT_BYTES = 262_144
/** How many files one analysis may look at. */
const MAX_LOOKUPS = 200

/** Analyses lines of this machine: it reads scripts that a line runs, and follows symbolic links. */
export const localShell: AnalyzeShell = (line, context) =>
  lazyAnalyzeShell(line, { home: homedir(), ...fileAccess(), ...context })

/** What the analyser may look up on this machine, within limits. */
function fileAccess(): Pick<ShellContext, 'readFile' | 'resolveLink'> {
  let lookups = 0
  const isAllowed = (path: string) => path.startsWith('/') && ++lookups <= MAX_LOOKUPS
  return {
    readFile: (path) => (isAllowed(path) ? readSmallFile(path) : undefined),
    resolveLink: (path) => (isAllowed(path) ? resolveExisting(path) : undefined),
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

/** Where the path leads; for a file that does not exist yet, where its folder leads. */
function resolveExisting(path: string, depth = 0): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    if (folder === path || depth > 8) return undefined
    const resolved = resolveExisting(folder, depth + 1)
    return resolved === undefined ? undefined : join(resolved, basename(path))
  }
}
