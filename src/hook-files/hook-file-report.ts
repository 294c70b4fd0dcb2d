import type { HookDefinition } from '../engine/hook-definition.ts'
import { formatProblem } from './file-problem.ts'
import type { HookFolder } from './hook-folders.ts'
import { prepareFileHooks } from './prepare-file-hooks.ts'
import { type HookFileLevel, loadFile } from './read/load-file.ts'
import { parseSource, readHookText } from './read/read-hook-file.ts'
import { lineAndColumn } from './read/source.ts'
import { hookFileNotices } from './watch/hook-file-notices.ts'
import type { HookFileStatus } from './watch/watched-folder.ts'

/**
 * none: there is no file · in_force: its hooks are in force · changed: it changed since a person trusted it, and the
 * trusted content stays in force · gone: a trusted file was removed, and its content stays in force · pending: no person
 * has trusted it yet, so it has no effect · broken: it cannot be used
 */
export type HookFileReportState = 'none' | 'in_force' | 'changed' | 'gone' | 'pending' | 'broken'

/** A hook as the file on disk has it, with its line. */
export interface LocatedHook {
  readonly definition: HookDefinition
  /** Counted from 1. */
  readonly line: number
}

/** One folder that may hold a hook file, and what a person should know about the file. */
export interface HookFileReport {
  readonly level: HookFileLevel
  readonly folder: string
  readonly file: string | undefined
  readonly state: HookFileReportState
  /** What is wrong and what to do; empty if the hooks are in force as they are written. */
  readonly problem: string
  /** The hooks in the file on disk, which may differ from those in force. */
  readonly hooks: readonly LocatedHook[]
}

const states: Readonly<Record<HookFileStatus['state'], HookFileReportState>> = {
  none: 'none',
  good: 'in_force',
  red: 'broken',
  untrusted: 'pending',
  changed: 'changed',
  gone: 'gone',
}

/** Describes hook files for people, with the line that every hook has on disk. `folders` are those of the statuses. */
export function reportHookFiles(
  statuses: readonly HookFileStatus[],
  folders: readonly HookFolder[],
): HookFileReport[] {
  return statuses.map((status) => {
    const { level, folder: path, file, state, problems } = status
    const notices =
      state === 'red' ? problems.map(formatProblem) : hookFileNotices(status).map(({ text }) => text)
    const folder = folders.find((each) => each.folder === path)
    return {
      level,
      folder: path,
      file,
      state: states[state],
      problem: notices.join('\n'),
      hooks: file === undefined || folder === undefined ? [] : locateHooks(file, folder),
    }
  })
}

/** The hooks of a file with their lines; none if the file cannot be read. */
function locateHooks(file: string, folder: HookFolder): readonly LocatedHook[] {
  try {
    const text = loadFile(file, folder.level)?.text ?? ''
    const source = parseSource(text, file)
    const read = readHookText(text, file)
    if (read.kind === 'bad' || source instanceof Error) return []
    return prepareFileHooks(read.file.hooks, folder).map((definition, index) => ({
      definition,
      line: lineAndColumn(text, source.offset(['hooks', index], 'value')).line,
    }))
  } catch {
    // Its state says why.
    return []
  }
}
