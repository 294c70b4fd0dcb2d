import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { AgentAdapter } from '../agents/agent-adapter.ts'
import type { AgentConfigFile, AgentHost, PluginHost } from '../agents/agent-host.ts'
import {
  type ConfigFileState,
  decodeConfig,
  readConfigState,
  unusableConfig,
} from '../agents/config/read-config.ts'
import type { PluginSettings } from '../agents/plugin/plugin-files.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { type Clock, systemClock } from '../engine/core/time/clock.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { lineDiff } from '../hook-files/line-diff.ts'
import {
  backupFolder,
  type ConnectionBackup,
  decodeState,
  encodeState,
  type FileBackup,
  readBackup,
  removeBackup,
  writeBackup,
} from './backup.ts'
import { type ConfigTarget, editsTarget, hooksTarget, ownFileTarget } from './config-target.ts'
import { type ConnectSettings, clientBudget, hookEntry, planHookCommands } from './hook-command.ts'
import {
  createFolders,
  hasSameContent,
  removeEmptyFolders,
  replaceFile,
  resolveLink,
  sha256,
  withLock,
} from './replace-file.ts'

/** The files that connect one agent, and what belongs in them. */
export interface AgentConnection {
  readonly agent: string
  readonly config: AgentConfigFile
  /** The files to write, the agent's own configuration last. */
  readonly targets: readonly ConfigTarget[]
  readonly dataFolder: string
  /** The flags of `hookhelm connect`, for the record. */
  readonly flags?: readonly string[]
  readonly clock?: Clock
}

/** A change to one file, made or only reported. */
export interface FileChange {
  readonly path: string
  readonly kind: 'made' | 'changed' | 'removed'
  /** A unified diff. */
  readonly diff: string
}

interface FileStep {
  readonly path: string
  readonly before: ConfigFileState | undefined
  readonly after: ConfigFileState | undefined
}

export interface ConnectOptions {
  /** Report the changes without making them. */
  readonly dryRun?: boolean
}

/** Writes our hooks into the agent's configuration. Changes nothing if they are there already. */
export function connect(
  connection: AgentConnection,
  { dryRun = false }: ConnectOptions = {},
): readonly FileChange[] {
  const { agent, config, targets, dataFolder, flags = [], clock = systemClock } = connection
  const folder = backupFolder(dataFolder)
  return runLocked(folder, dryRun, () => {
    const name = { agent, level: config.level, file: config.file }
    const known = readBackup(folder, name)
    const planned = targets.map((target) => plan(target, config, fileIn(known, target.path)))
    const steps = planned.filter(isChange)
    // The record is written even if the file needs no change: the doctor must notice when the file disappears.
    const isRecorded = known !== undefined && isDeepStrictEqual(known.flags ?? [], flags)
    if (dryRun || (steps.length === 0 && isRecorded)) return steps.map(changeOf)
    const folders = planned.flatMap(({ path }) =>
      createFolders(dirname(resolveLink(path)), folderMode(config)),
    )
    // Write the backup first, so that `undo` works after a crash.
    writeBackup(folder, {
      version: 1,
      ...name,
      at: clock.now(),
      files: planned.map(({ path, base, after }) => ({
        path,
        before: encodeState(base),
        after: sha256(after?.bytes ?? Buffer.alloc(0)),
      })),
      folders: [...(known?.folders ?? []), ...folders],
      flags,
    })
    apply(steps)
    return steps.map(changeOf)
  })
}

/** Removes our content, and keeps every change that others made. */
export function disconnect(
  connection: AgentConnection,
  { dryRun = false }: ConnectOptions = {},
): readonly FileChange[] {
  const { agent, config, targets, dataFolder } = connection
  const folder = backupFolder(dataFolder)
  return runLocked(folder, dryRun, () => {
    const name = { agent, level: config.level, file: config.file }
    const known = readBackup(folder, name)
    const steps = targets.map((target) => strip(target, fileIn(known, target.path))).filter(isChange)
    if (dryRun) return steps.map(changeOf)
    apply(steps.toReversed())
    if (known !== undefined) {
      removeEmptyFolders(known.folders)
      removeBackup(folder, name)
    }
    return steps.map(changeOf)
  })
}

/** Restores the files byte for byte. Throws if they changed since, unless `force` is set. */
export function undo(
  { agent, config, dataFolder }: Omit<AgentConnection, 'targets'>,
  { dryRun = false, force = false }: ConnectOptions & { readonly force?: boolean } = {},
): readonly FileChange[] {
  const folder = backupFolder(dataFolder)
  return runLocked(folder, dryRun, () => {
    const name = { agent, level: config.level, file: config.file }
    const known = readBackup(folder, name)
    if (known === undefined) throw serverError('connect.agent', `there is no backup of ${config.file}`)
    const steps = known.files.map(({ path, before }) => ({
      path,
      before: readConfigState(path),
      after: decodeState(before),
    }))
    const foreign = steps.filter((step, index) => isForeign(step, known.files[index]))
    if (foreign.length > 0 && !force) throw changedSince(foreign)
    const needed = steps.filter(isChange)
    if (dryRun) return needed.map(changeOf)
    apply(needed.toReversed())
    removeEmptyFolders(known.folders)
    removeBackup(folder, name)
    return needed.map(changeOf)
  })
}

/** A dry run takes no lock, because that would create a file. */
function runLocked<T>(folder: string, dryRun: boolean, work: () => T): T {
  return dryRun ? work() : withLock(folder, work)
}

interface PlannedFile extends FileStep {
  /** The content that `undo` restores. */
  readonly base: ConfigFileState | undefined
}

function plan(target: ConfigTarget, config: AgentConfigFile, known: FileBackup | undefined): PlannedFile {
  const { path } = target
  const before = readConfigState(resolveLink(path))
  const base = baseOf(target, before, known)
  assertReadable(target, before)
  if (before !== undefined && target.isMerged(decodeConfig(path, before)))
    return { path, before, after: before, base }
  const text = target.merge(base === undefined ? undefined : decodeConfig(path, base))
  const mode = before?.mode ?? base?.mode ?? fileMode(config)
  return { path, before, base, after: { bytes: Buffer.from(text), mode } }
}

/** Refuses a file that the agent silently ignores. */
function assertReadable(target: ConfigTarget, state: ConfigFileState | undefined): void {
  const why = state === undefined ? undefined : target.explainUnreadable?.(decodeConfig(target.path, state))
  if (why !== undefined)
    throw unusableConfig(
      `${why},`,
      'which makes the agent ignore the whole file',
      'Remove it, then connect again.',
    )
}

/** The file without our content: the backup if the file has not changed since, or else the stripped file. */
function baseOf(
  target: ConfigTarget,
  now: ConfigFileState | undefined,
  known: FileBackup | undefined,
): ConfigFileState | undefined {
  if (now === undefined) return undefined
  if (known !== undefined && sha256(now.bytes) === known.after) return decodeState(known.before)
  const text = decodeConfig(target.path, now)
  const without = target.strip(text)
  if (without === text) return now
  return without === undefined ? undefined : { bytes: Buffer.from(without), mode: now.mode }
}

function strip(target: ConfigTarget, known: FileBackup | undefined): FileStep {
  const before = readConfigState(resolveLink(target.path))
  return { path: target.path, before, after: baseOf(target, before, known) }
}

function apply(steps: readonly FileStep[]): void {
  for (const { path, before, after } of steps) replaceFile({ path, expected: before, next: after })
}

/** Whether the file is neither what Hookhelm wrote nor the original. */
function isForeign({ before: now, after: then }: FileStep, known: FileBackup | undefined): boolean {
  if (hasSameContent(now, then)) return false
  return now === undefined || sha256(now.bytes) !== known?.after
}

function changedSince(steps: readonly FileStep[]): Error {
  const shown = steps.map((step) => `${step.path}\n${changeOf(step).diff}`).join('\n')
  return serverError(
    'connect.changed',
    `the file changed since it was connected; undo would do this:\n${shown}`,
    {
      hint: '`hookhelm disconnect` removes only our hooks; `--force` restores the old file.',
    },
  )
}

function changeOf({ path, before, after }: FileStep): FileChange {
  const kind = before === undefined ? 'made' : after === undefined ? 'removed' : 'changed'
  return { path, kind, diff: lineDiff(asText(before), asText(after)) }
}

function asText(state: ConfigFileState | undefined): string {
  return state?.bytes.toString('utf8') ?? ''
}

function isChange({ before, after }: FileStep): boolean {
  return !hasSameContent(before, after)
}

function fileIn(backup: ConnectionBackup | undefined, path: string): FileBackup | undefined {
  return backup?.files.find((file) => file.path === path)
}

/** A project's file must be readable for others. */
function fileMode({ level }: AgentConfigFile): number {
  return level === 'user' ? 0o600 : 0o644
}

function folderMode({ level }: AgentConfigFile): number {
  return level === 'user' ? 0o700 : 0o755
}

export interface ConnectRequest {
  readonly host: AgentHost
  readonly adapter: AgentAdapter
  readonly config: AgentConfigFile
  readonly dataFolder: string
  readonly settings: ConnectSettings
  /** The version of Hookhelm. */
  readonly version: string
  readonly flags?: readonly string[]
}

/** The connection that a request asks for. */
export function planConnection(request: ConnectRequest): AgentConnection {
  const { host, adapter, config, dataFolder, settings, version } = request
  const { socket, spool, failOpen, timeoutMs, waitMs, allEvents } = settings
  const targets =
    host.transport === 'command'
      ? [
          hooksTarget(
            host,
            config.file,
            planHookCommands(adapter, host, settings).map((command) => hookEntry(host, command)),
          ),
        ]
      : pluginTargets(host, {
          config,
          dataFolder,
          settings: {
            agent: host.agent,
            version,
            socket,
            spool,
            within: clientBudget(timeoutMs),
            wait: clientBudget(Math.max(timeoutMs, waitMs)),
            failOpen,
            ...(allEvents ? { chatty: true } : {}),
          },
        })
  return {
    agent: host.agent,
    config,
    targets,
    dataFolder,
    ...definedFields({ flags: request.flags }),
  }
}

/** Targets that recognise our content, whatever settings it was written with. */
export function disconnectTargets(
  host: AgentHost,
  config: AgentConfigFile,
  dataFolder: string,
): readonly ConfigTarget[] {
  if (host.transport === 'command') return [hooksTarget(host, config.file, [])]
  const settings = { agent: host.agent, version: '', socket: '', spool: '', within: 0, failOpen: false }
  return pluginTargets(host, { config, dataFolder, settings })
}

function pluginTargets(
  host: PluginHost,
  {
    config,
    dataFolder,
    settings,
  }: { readonly config: AgentConfigFile; readonly dataFolder: string; readonly settings: PluginSettings },
): readonly ConfigTarget[] {
  const folder = host.pluginFolder(config, dataFolder)
  const edits = host.configEdits(folder)
  return [
    ...host.pluginFiles(settings).map(({ path, text }) => ownFileTarget(join(folder, path), text)),
    ...(edits.length === 0 ? [] : [editsTarget(config.file, edits)]),
  ]
}
