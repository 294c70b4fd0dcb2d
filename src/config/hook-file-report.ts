import { dirname } from 'node:path'
import type { Handler } from '../engine/core/handler.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { type HookFolder, hookFileIn } from './hook-folders.ts'
import { checkManagedFields, prepareFileHooks } from './prepare-file-hooks.ts'
import { type HookFileLevel, loadFile } from './read/load-file.ts'
import { parseSource, readHookText } from './read/read-hook-file.ts'
import { lineAndColumn } from './read/source.ts'
import type { TrustStore } from './trust.ts'
import { toHookError } from './watch/read-hook-folder.ts'

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

/** What one folder that may hold a hook file has on disk now. */
export interface HookFileReport {
  readonly level: HookFileLevel
  readonly folder: string
  readonly file: string | undefined
  readonly state: HookFileReportState
  /** What is wrong and where; empty unless the file is broken. */
  readonly problem: string
  readonly hooks: readonly LocatedHook[]
}

interface ReportOptions {
  /** The handlers of the process that uses the files. If given, each checks the `config` of its hooks. */
  readonly handlers?: readonly Handler[]
  readonly trust: TrustStore
}

/** Describes the hook files of these folders. Never throws: an error becomes the problem of its file. */
export function reportHookFiles(folders: readonly HookFolder[], options: ReportOptions): HookFileReport[] {
  return folders.map((folder) => {
    const about = { level: folder.level, folder: folder.folder }
    let file: string | undefined
    try {
      file = hookFileIn(folder.folder)
      const loaded = file === undefined ? undefined : loadFile(file, folder.level)
      if (file === undefined || loaded === undefined)
        return { ...about, ...missingFile(folder, options.trust) }
      return { ...about, file, ...describeText(loaded.text, file, folder, options) }
    } catch (error) {
      return { ...about, file, state: 'broken', problem: toHookError(error).message, hooks: [] }
    }
  })
}

type Described = Pick<HookFileReport, 'state' | 'problem' | 'hooks'>

function missingFile(
  { level, folder }: HookFolder,
  trust: TrustStore,
): Described & { file: string | undefined } {
  const file = level === 'repository' ? trust.paths().find((path) => dirname(path) === folder) : undefined
  return { file, state: file === undefined ? 'none' : 'gone', problem: '', hooks: [] }
}

function describeText(
  text: string,
  file: string,
  folder: HookFolder,
  { handlers, trust }: ReportOptions,
): Described {
  const trusted = folder.level === 'repository' ? trust.state(file, text) : 'trusted'
  const read = readHookText(text, file, {
    ...(handlers === undefined ? {} : { handlers }),
    also: (hooks) => checkManagedFields(hooks, folder),
  })
  if (read.kind === 'bad') {
    const [{ line, column, message }, ...others] = read.problems
    const more = others.length === 0 ? '' : ` (and ${others.length} more: hookhelm validate)`
    const problem = `${line}:${column} ${message}${more}`
    // A changed file is not read, so what is wrong in it has no effect yet.
    return { state: trusted === 'changed' ? 'changed' : 'broken', problem, hooks: [] }
  }
  const states = { trusted: 'in_force', changed: 'changed', new: 'pending' } as const
  return { state: states[trusted], problem: '', hooks: locateHooks(text, file, folder, read.file.hooks) }
}

function locateHooks(
  text: string,
  file: string,
  folder: HookFolder,
  hooks: readonly HookDefinition[],
): readonly LocatedHook[] {
  const source = parseSource(text, file)
  return prepareFileHooks(hooks, folder).map((definition, index) => ({
    definition,
    line: source instanceof Error ? 1 : lineAndColumn(text, source.offset(['hooks', index], 'value')).line,
  }))
}
