import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import {
  type FileProblem,
  locateProblem,
  syntaxProblem,
  wholeFileProblem,
} from '../../hook-files/file-problem.ts'
import type { HookFolder } from '../../hook-files/hook-folders.ts'
import { assertSafeOwner, type HookFileLevel, loadFile } from '../../hook-files/read/load-file.ts'
import { parseSource } from '../../hook-files/read/read-hook-file.ts'
import type { Source } from '../../hook-files/read/source.ts'
import type { TrustStore } from '../../hook-files/trust.ts'
import {
  changedScripts,
  pinScripts,
  recordScripts,
  type TrustedScripts,
} from '../../hook-files/trusted-scripts.ts'
import type { HookFileState } from '../../hook-files/watch/read-hook-folder.ts'
import { readBlueprint } from './blueprint.ts'

const FILE_NAME = 'agent.json'

/** A blueprint in a file, or every problem in it. */
export type BlueprintFileResult =
  | {
      readonly kind: 'good'
      readonly definition: Readonly<Record<string, unknown>>
      readonly warnings: readonly string[]
    }
  | { readonly kind: 'bad'; readonly problems: readonly [FileProblem, ...FileProblem[]] }

/** Where the agents of a hook folder are: each in a folder of its own. */
export function agentsFolder({ folder }: Pick<HookFolder, 'folder'>): string {
  return join(folder, 'agents')
}

/** Whether a path is that of a blueprint: `agents/NAME/agent.json`. */
export function isBlueprintFile(path: string): boolean {
  return basename(path) === FILE_NAME
}

/** The name that the blueprint in a file must have. */
export function agentNameOf(path: string): string {
  return basename(dirname(path))
}

/** The blueprint files of a hook folder, and those that a person trusted there and that are gone. */
export function findBlueprintFiles(folder: Pick<HookFolder, 'folder'>, trust?: TrustStore): string[] {
  const agents = agentsFolder(folder)
  const trusted = trust?.pathsBelow(agents).filter(isBlueprintFile).map(agentNameOf) ?? []
  const names = new Set([...folderNames(agents), ...trusted])
  const paths = [...names].sort().map((name) => join(agents, name, FILE_NAME))
  return paths.filter((path) => trusted.includes(agentNameOf(path)) || exists(path))
}

function folderNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Reading it reports why.
    return true
  }
}

/** Checks the text of a blueprint file. Its name is that of its folder, and may be omitted. */
export function readBlueprintText(given: string, path: string, edition: Edition): BlueprintFileResult {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const source = parseSource(text, path)
  if (source instanceof HookError) return { kind: 'bad', problems: [syntaxProblem(text, path, source)] }
  try {
    const definition = nameDefinition(source.value, agentNameOf(path))
    return { kind: 'good', definition, warnings: readBlueprint(definition, edition).warnings }
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown
    return { kind: 'bad', problems: [locate(thrown, { text, path, source })] }
  }
}

function nameDefinition(value: unknown, folderName: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new HookError('config.field', 'a blueprint must be an object')
  const { name = folderName } = value
  if (name === folderName) return { name, ...value }
  throw new HookError('config.field', `the agent must have the name of its folder, ${folderName}`, {
    at: 'name',
    hint: 'Rename one of them.',
  })
}

function locate(
  error: HookError,
  { text, path, source }: { readonly text: string; readonly path: string; readonly source: Source },
): FileProblem {
  const steps = (error.at ?? '').split('.').filter((step) => step !== '')
  const pointer = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  return locateProblem(text, path, source, { path: pointer, part: 'value', error })
}

/** Reads and checks a blueprint file of the user or the administrator, or one that a command names. */
export function readBlueprintFile(path: string, level: HookFileLevel, edition: Edition): BlueprintFileResult {
  try {
    const loaded = loadBlueprintFile(path, level)
    if (loaded === undefined) throw handlerError('config.unreadable', `${path} does not exist`)
    return readBlueprintText(loaded, path, edition)
  } catch (thrown) {
    return { kind: 'bad', problems: [wholeFileProblem(path, toHookError(thrown))] }
  }
}

/** The text of a file; undefined if there is none. The folder of all agents must be as safe as the file. */
function loadBlueprintFile(path: string, level: HookFileLevel): string | undefined {
  const loaded = loadFile(path, level)
  if (loaded === undefined) return undefined
  const agents = dirname(dirname(path))
  assertSafeOwner(agents, statSync(agents), level)
  return loaded.text
}

/** The state of one blueprint file. */
export interface BlueprintFileStatus {
  readonly file: string
  readonly level: HookFileLevel
  readonly name: string
  readonly state: Exclude<HookFileState, 'none'>
  /** The blueprint to put in force; the last good one of a file that is broken, undefined if there was none. */
  readonly definition: Readonly<Record<string, unknown>> | undefined
  readonly problems: readonly FileProblem[]
  /** The scripts that its trusted command names, as they were trusted. */
  readonly scripts: TrustedScripts
}

export interface ReadStatusOptions {
  readonly edition: Edition
  readonly trust?: TrustStore
  readonly previous?: BlueprintFileStatus | undefined
}

/** Reads one blueprint file. Never throws. Undefined if it is gone and nobody has to be told. */
export function readBlueprintStatus(
  file: string,
  level: HookFileLevel,
  options: ReadStatusOptions,
): BlueprintFileStatus | undefined {
  const { edition, trust, previous } = options
  const about = { file, level, name: agentNameOf(file) }
  const broken = (problems: readonly FileProblem[]): BlueprintFileStatus => ({
    ...{ ...about, state: 'red', definition: previous?.definition, problems, scripts: {} },
  })
  const read = (
    text: string,
    state: BlueprintFileStatus['state'],
    scripts: TrustedScripts = {},
  ): BlueprintFileStatus => {
    const result = readBlueprintText(text, file, edition)
    if (result.kind === 'bad') return broken(result.problems)
    const definition = pinBlueprintScripts(result.definition, scripts, file)
    return { ...about, state, definition, problems: [], scripts }
  }
  try {
    const text = loadBlueprintFile(file, level)
    if (level !== 'repository') return text === undefined ? undefined : read(text, 'good')
    const trusted = trust?.find(file)
    if (trusted === undefined)
      return text === undefined
        ? undefined
        : { ...about, state: 'untrusted', definition: undefined, problems: [], scripts: {} }
    return read(trusted.text, trustedState(text, trusted.text), trusted.scripts)
  } catch (thrown) {
    return broken([wholeFileProblem(file, toHookError(thrown))])
  }
}

/** The files of the repository that the command of an agent names, with the content that they have now. */
export function recordBlueprintScripts(definition: Definition, path: string): TrustedScripts {
  return recordScripts([commandOf(definition)], hookFolderOf(path))
}

/** Makes the runner refuse scripts that are not as they were trusted. */
function pinBlueprintScripts(definition: Definition, scripts: TrustedScripts, path: string): Definition {
  const [pinned] = pinScripts([commandOf(definition)], scripts, hookFolderOf(path))
  const files = isRecord(pinned?.config) ? pinned.config.pinned_files : undefined
  if (files === undefined || !isRecord(definition.executor)) return definition
  return { ...definition, executor: { ...definition.executor, pinned_files: files } }
}

type Definition = Readonly<Record<string, unknown>>

/** The command of an agent, in the shape in which hook files have theirs. */
function commandOf({ executor }: Definition): HookDefinition {
  const { command, pinned_files } = isRecord(executor) ? executor : {}
  const config = { exec: command, ...(pinned_files === undefined ? {} : { pinned_files }) }
  return { event: 'run_start', handler_type: 'command', config }
}

/** `agents/NAME/agent.json` is in the hook folder that has `agents`. */
function hookFolderOf(path: string): string {
  return dirname(dirname(dirname(path)))
}

function trustedState(text: string | undefined, trusted: string): 'good' | 'changed' | 'gone' {
  if (text === undefined) return 'gone'
  return text === trusted ? 'good' : 'changed'
}

/** The trusted scripts of an agent that are no longer as they were. */
export function describeChangedScripts({ name, scripts }: BlueprintFileStatus): string[] {
  return changedScripts(scripts).map(
    ({ path }) =>
      `${path} is not as you trusted it: runs of ${name} fail. Review it and run \`hookhelm trust\``,
  )
}

/** What a person should know about a blueprint file; empty if it is in force as it is written. */
export function describeBlueprintFile({
  file,
  name,
  state,
  definition,
  problems,
}: BlueprintFileStatus): string {
  const review = 'Review it and run `hookhelm trust`'
  switch (state) {
    case 'good':
      return ''
    case 'untrusted':
      return `${file} has no effect until you trust it: run \`hookhelm trust\``
    case 'changed':
      return `${file} has changed since you trusted it; the agent ${name} stays as you trusted it. ${review}`
    case 'gone':
      return `${file} no longer exists; the agent ${name} stays as you trusted it. Restore it, or run \`hookhelm trust --revoke\``
    case 'red': {
      const kept = definition === undefined ? '' : `; the agent ${name} stays as it was`
      const [first] = problems
      return first === undefined
        ? `${file} cannot be used${kept}`
        : `${file}:${first.line}:${first.column} ${first.message}${kept} (${first.hint})`
    }
  }
}

function toHookError(thrown: unknown): HookError {
  return thrown instanceof HookError ? thrown : handlerError('config.unreadable', errorText(thrown))
}
