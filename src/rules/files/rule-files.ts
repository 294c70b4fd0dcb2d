import { realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import {
  type HookFileLevel,
  type LoadedFile,
  loadFile,
  unreadableFile,
} from '../../hook-files/read/load-file.ts'
import type { TrustedFile, TrustStore } from '../../hook-files/trust.ts'
import { pinScripts, recordScripts, type TrustedScripts } from '../../hook-files/trusted-scripts.ts'
import { parseJson } from '../../safe/json.ts'
import { fileGroup, type RuleGroup, readRecoveryConfig } from './recovery-rules.ts'
import {
  type Environment,
  RULE_FILE,
  type RuleFilePath,
  type RuleFolders,
  ruleFilePaths,
} from './rule-file-paths.ts'
import type { RecoveryAction, RecoveryConfig } from './rule-schema.ts'

/** What a rule file contributes at present. */
export interface RuleFileStatus {
  readonly file: string
  /** good: in use · red: unusable, the previous rules stay · untrusted, changed, gone: as for hook files. */
  readonly state: 'good' | 'red' | 'untrusted' | 'changed' | 'gone'
  /** How many rules of the file are in force. */
  readonly rules: number
  readonly problem?: string
}

/** A rule file with the rules of it that are in force. */
export interface KnownRuleFile extends RuleFileStatus {
  /** Differs after the file or the trust in it has changed. */
  readonly fingerprint: string
  readonly group: RuleGroup | undefined
}

const CHECK_MS = 1_000
const MAX_FILES = 256

/** The last reading of one file. */
interface FileEntry {
  readonly checkedAt: number
  readonly fingerprint: string
  readonly group: RuleGroup | undefined
  readonly status: RuleFileStatus | undefined
  /** The file could not be opened. What is in the way may go without a change of the file, so it is tried again. */
  readonly isUnread: boolean
  readonly level: RuleFilePath['level']
}

interface RuleFilesParts {
  readonly env: Environment
  readonly trust: TrustStore
  readonly clock: Clock
  readonly log: Log
}

/**
 * Reads `hook-chains.json` of the administrator, the user and the repository, with the trust that hook files need. Each use
 * looks at most once per second whether a file changed, so nothing has to watch folders that no agent works in.
 */
export class RuleFiles {
  readonly #parts: RuleFilesParts
  readonly #entries = new LRUCache<string, FileEntry>({ max: MAX_FILES })
  readonly #lists = new LRUCache<string, { readonly at: number; readonly paths: readonly RuleFilePath[] }>({
    max: MAX_FILES,
  })
  #repositories: readonly string[] = []
  #trusted: { readonly fingerprint: string; readonly paths: readonly string[] } | undefined
  #trustProblem: string | undefined

  constructor(parts: RuleFilesParts) {
    this.#parts = parts
  }

  /** The rules of the files that apply in these folders. */
  groupsOf(folders: RuleFolders): readonly RuleGroup[] {
    return this.#pathsOf(folders).flatMap((file) => this.#read(file) ?? [])
  }

  /** The files that were read so far, read again where they changed, and every rule file that is trusted. */
  known(): readonly KnownRuleFile[] {
    const everywhere = this.#pathsOf({ cwd: '/', start: '/' })
    const trustedFiles = this.#trustedRuleFiles().map((path) => ({ path, level: 'repository' as const }))
    const before = [...this.#entries].map(([path, { level }]) => ({ path, level }))
    // The path that events named comes last: windows and firings have it as the source of the rules.
    const files = new Map(
      [...everywhere, ...trustedFiles, ...before].map((file) => [realPath(file.path), file]),
    )
    for (const file of files.values()) this.#read(file)
    const listed = [...files.values()].flatMap(({ path }) => {
      const { status, group, fingerprint = '' } = this.#entries.peek(path) ?? {}
      return status === undefined ? [] : [{ ...status, group, fingerprint }]
    })
    return [...this.#unusableTrust(), ...listed]
  }

  /** While the trust store cannot be read, what it said before counts: rules elsewhere must not be off with it. */
  #readTrust<T>(find: () => T, before: T): T {
    try {
      const found = find()
      this.#trustProblem = undefined
      return found
    } catch (thrown) {
      this.#trustProblem = errorText(thrown)
      return before
    }
  }

  #pathsOf(folders: RuleFolders): readonly RuleFilePath[] {
    const { env, trust, clock } = this.#parts
    const key = `${folders.cwd}\0${folders.start}`
    const known = this.#lists.get(key)
    if (known !== undefined && clock.elapsed() - known.at < CHECK_MS) return known.paths
    this.#repositories = this.#readTrust(() => trust.repositories(), this.#repositories)
    const paths = ruleFilePaths({ ...folders, env, repositories: this.#repositories })
    this.#lists.set(key, { at: clock.elapsed(), paths })
    return paths
  }

  #read(file: RuleFilePath): RuleGroup | undefined {
    const { trust, clock, log } = this.#parts
    const known = this.#entries.get(file.path)
    const now = clock.elapsed()
    if (known !== undefined && now - known.checkedAt < CHECK_MS) return known.group
    const fingerprint = [file.path, trust.file].map(fingerprintOf).join(' | ')
    if (known?.fingerprint === fingerprint && !known.isUnread) {
      this.#entries.set(file.path, { ...known, checkedAt: now })
      return known.group
    }
    const reading = readRuleFile(file, trust, known?.group)
    this.#entries.set(file.path, { checkedAt: now, fingerprint, level: file.level, ...reading })
    const { group, status } = reading
    const isNews =
      known === undefined
        ? status?.state !== 'good'
        : known.fingerprint !== fingerprint || known.status?.problem !== status?.problem
    if (status !== undefined && isNews) log('rules.file', { ...status })
    return group
  }

  #trustedRuleFiles(): readonly string[] {
    const { trust } = this.#parts
    const fingerprint = fingerprintOf(trust.file)
    if (this.#trusted?.fingerprint === fingerprint && this.#trustProblem === undefined)
      return this.#trusted.paths
    const paths = this.#readTrust(() => trust.paths().filter(isRuleFile), this.#trusted?.paths ?? [])
    this.#trusted = { fingerprint, paths }
    return paths
  }

  #unusableTrust(): readonly KnownRuleFile[] {
    const { file } = this.#parts.trust
    const problem = this.#trustProblem
    if (problem === undefined) return []
    const fingerprint = fingerprintOf(file)
    return [{ file, state: 'red', rules: 0, problem, fingerprint, group: undefined }]
  }
}

/** Files of OpenClaude are known when an event needs them: whether they apply depends on its switch. */
function isRuleFile(path: string): boolean {
  return basename(path) === RULE_FILE && basename(dirname(path)) === '.hookhelm'
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function fingerprintOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stats === undefined ? '-' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
  } catch {
    // Reading the file reports the error.
    return '?'
  }
}

type Reading = Pick<FileEntry, 'group' | 'status' | 'isUnread'>

const NO_FILE: Reading = { group: undefined, status: undefined, isUnread: false }

/** `previous`: the rules that are in force. */
function readRuleFile({ path, level }: RuleFilePath, trust: TrustStore, previous?: RuleGroup): Reading {
  const present = loadPresent(path, level)
  const isUnread = present.problem !== undefined
  try {
    const reading =
      level === 'repository'
        ? readRepositoryFile(path, present, trust.find(path))
        : readOwnFile(path, present, previous)
    return { ...reading, isUnread }
  } catch (thrown) {
    // A file that cannot be used keeps the rules that were in force.
    return { ...redFile(path, thrown, previous), isUnread }
  }
}

/** The file at present, as far as it can be read. */
interface PresentFile {
  readonly loaded?: LoadedFile | undefined
  readonly problem?: unknown
}

function loadPresent(path: string, level: HookFileLevel): PresentFile {
  try {
    return { loaded: loadFile(path, level) }
  } catch (problem) {
    return { problem }
  }
}

function readOwnFile(
  path: string,
  { loaded, problem }: PresentFile,
  previous: RuleGroup | undefined,
): Reading {
  if (problem !== undefined) throw problem
  if (loaded !== undefined) return inUse(path, parseRuleFile(loaded.text), { state: 'good' })
  // An editor may be replacing it.
  if (previous !== undefined) throw unreadableFile(path, 'no longer exists')
  return NO_FILE
}

/** What a person trusted applies, whatever is in its place now. Without trust no rule does. */
function readRepositoryFile(
  path: string,
  { loaded, problem }: PresentFile,
  trusted: TrustedFile | undefined,
): Reading {
  if (trusted === undefined) {
    if (problem !== undefined) return redFile(path, problem, undefined)
    if (loaded === undefined) return NO_FILE
    return { ...NO_FILE, status: { file: path, state: 'untrusted', rules: 0 } }
  }
  const config = pinCommands(parseRuleFile(trusted.text), trusted.scripts ?? {}, path)
  if (problem !== undefined) return inUse(path, config, { state: 'changed', problem: errorText(problem) })
  if (loaded === undefined) return inUse(path, config, { state: 'gone' })
  return inUse(path, config, { state: loaded.text === trusted.text ? 'good' : 'changed' })
}

function redFile(path: string, problem: unknown, group: RuleGroup | undefined): Reading {
  const rules = group?.ruleSet.rules.length ?? 0
  return {
    ...NO_FILE,
    group,
    status: { file: path, state: 'red', rules, problem: errorText(problem) },
  }
}

function inUse(
  path: string,
  config: RecoveryConfig,
  status: Pick<RuleFileStatus, 'state' | 'problem'>,
): Reading {
  const group = fileGroup(path, config)
  return { ...NO_FILE, group, status: { file: path, rules: group.ruleSet.rules.length, ...status } }
}

/** Reads the text of a rule file. Throws a coded error that names the problem. */
export function parseRuleFile(text: string): RecoveryConfig {
  return readRecoveryConfig(parseJson(text, { maxBytes: 1_048_576, maxDepth: 64, maxKeys: 100_000 }))
}

/** The scripts that the commands of a rule file name, for trust. */
export function recordRuleScripts(config: RecoveryConfig, path: string): TrustedScripts {
  const commands = config.rules.flatMap(({ actions }) => actions.flatMap(commandHook))
  return recordScripts(commands, dirname(path))
}

/** Gives each command the pins of the scripts that it names, as hooks of files have them. */
function pinCommands(config: RecoveryConfig, scripts: TrustedScripts, path: string): RecoveryConfig {
  const pinned = (action: RecoveryAction): RecoveryAction => {
    const [hook] = pinScripts(commandHook(action), scripts, dirname(path))
    return action.type === 'run_command' && isRecord(hook?.config)
      ? { ...action, config: hook.config }
      : action
  }
  return { ...config, rules: config.rules.map((rule) => ({ ...rule, actions: rule.actions.map(pinned) })) }
}

function commandHook(action: RecoveryAction): HookDefinition[] {
  return action.type === 'run_command'
    ? [{ event: 'agent_event', handler_type: 'command', config: action.config }]
    : []
}
