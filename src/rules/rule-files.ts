import { realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { loadFile } from '../config/read/load-file.ts'
import type { TrustStore } from '../config/trust.ts'
import { pinScripts, recordScripts, type TrustedScripts } from '../config/trusted-scripts.ts'
import { isRecord } from '../engine/core/check.ts'
import type { Clock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import type { Log } from '../engine/core/sink.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { parseJson } from '../safe/json.ts'
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

/** The files with recovery rules. A changed file is in use a second later. */
export interface RuleFiles {
  /** The rules of the files that apply in these folders. */
  groupsOf(folders: RuleFolders): readonly RuleGroup[]
  /** The files that were read so far. */
  status(): readonly RuleFileStatus[]
  /** The same with their rules, read again where they changed, and every rule file that is trusted. */
  known(): readonly KnownRuleFile[]
}

/** A rule file with the rules of it that are in force. */
export interface KnownRuleFile extends RuleFileStatus {
  /** Differs after the file or the trust in it has changed. */
  readonly fingerprint: string
  readonly group: RuleGroup | undefined
}

const CHECK_MS = 1_000
const MAX_FILES = 256

interface RuleFilesParts {
  readonly env: Environment
  readonly trust: TrustStore
  readonly clock: Clock
  readonly log: Log
}

/** The last reading of one file. */
interface FileEntry {
  readonly checkedAt: number
  readonly fingerprint: string
  readonly group: RuleGroup | undefined
  readonly status: RuleFileStatus | undefined
  readonly level: RuleFilePath['level']
}

/**
 * Reads `hook-chains.json` of the administrator, the user and the repository, with the trust that hook files need. Each use
 * looks at most once per second whether a file changed, so nothing has to watch folders that no agent works in.
 */
export function createRuleFiles(parts: RuleFilesParts): RuleFiles {
  const { env, trust, clock, log } = parts
  const entries = new LRUCache<string, FileEntry>({ max: MAX_FILES })
  const lists = new LRUCache<string, { readonly at: number; readonly paths: readonly RuleFilePath[] }>({
    max: MAX_FILES,
  })

  const pathsOf = (folders: RuleFolders): readonly RuleFilePath[] => {
    const key = `${folders.cwd}\0${folders.start}`
    const known = lists.get(key)
    if (known !== undefined && clock.elapsed() - known.at < CHECK_MS) return known.paths
    const paths = ruleFilePaths({ ...folders, env, repositories: trust.repositories() })
    lists.set(key, { at: clock.elapsed(), paths })
    return paths
  }

  const read = (file: RuleFilePath): RuleGroup | undefined => {
    const known = entries.get(file.path)
    const now = clock.elapsed()
    if (known !== undefined && now - known.checkedAt < CHECK_MS) return known.group
    const fingerprint = [file.path, trust.file].map(fingerprintOf).join(' | ')
    if (known?.fingerprint === fingerprint) {
      entries.set(file.path, { ...known, checkedAt: now })
      return known.group
    }
    const reading = readRuleFile(file, trust)
    // A file that cannot be used keeps the rules that were in force.
    const group = reading.status?.state === 'red' ? known?.group : reading.group
    const { status } = reading
    const shown = status && { ...status, rules: group?.ruleSet.rules.length ?? 0 }
    entries.set(file.path, { checkedAt: now, fingerprint, group, status: shown, level: file.level })
    if (shown !== undefined && (shown.state !== 'good' || known !== undefined))
      log('rules.file', { ...shown })
    return group
  }

  let trusted: { readonly fingerprint: string; readonly paths: readonly string[] } | undefined
  const trustedRuleFiles = (): readonly string[] => {
    const fingerprint = fingerprintOf(trust.file)
    if (trusted?.fingerprint !== fingerprint)
      trusted = { fingerprint, paths: trust.paths().filter(isRuleFile) }
    return trusted.paths
  }

  return {
    groupsOf: (folders) => pathsOf(folders).flatMap((file) => read(file) ?? []),
    status: () => [...entries.values()].flatMap(({ status }) => status ?? []),
    known() {
      const everywhere = pathsOf({ cwd: '/', start: '/' })
      const trustedFiles = trustedRuleFiles().map((path) => ({ path, level: 'repository' as const }))
      const before = [...entries].map(([path, { level }]) => ({ path, level }))
      // The path that events named comes last: windows and firings have it as the source of the rules.
      const files = new Map(
        [...everywhere, ...trustedFiles, ...before].map((file) => [realPath(file.path), file]),
      )
      for (const file of files.values()) read(file)
      return [...files.values()].flatMap(({ path }) => {
        const { status, group, fingerprint = '' } = entries.peek(path) ?? {}
        return status === undefined ? [] : [{ ...status, group, fingerprint }]
      })
    },
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

type Reading = Pick<FileEntry, 'group' | 'status'>

function readRuleFile({ path, level }: RuleFilePath, trust: TrustStore): Reading {
  const red = (thrown: unknown): Reading => ({
    group: undefined,
    status: { file: path, state: 'red', rules: 0, problem: errorText(thrown) },
  })
  try {
    const loaded = loadFile(path, level)
    if (level !== 'repository')
      return loaded === undefined
        ? { group: undefined, status: undefined }
        : inUse(path, 'good', parseRuleFile(loaded.text))
    const trusted = trust.find(path)
    if (trusted === undefined)
      return loaded === undefined
        ? { group: undefined, status: undefined }
        : { group: undefined, status: { file: path, state: 'untrusted', rules: 0 } }
    const state = loaded === undefined ? 'gone' : loaded.text === trusted.text ? 'good' : 'changed'
    return inUse(path, state, pinCommands(parseRuleFile(trusted.text), trusted.scripts ?? {}, path))
  } catch (thrown) {
    return red(thrown)
  }
}

function inUse(path: string, state: RuleFileStatus['state'], config: RecoveryConfig): Reading {
  const group = fileGroup(path, config)
  return { group, status: { file: path, state, rules: group.ruleSet.rules.length } }
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
