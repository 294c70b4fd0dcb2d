import { dirname } from 'node:path'
import { lineDiff } from '../config/line-diff.ts'
import { type Clock, systemClock } from '../engine/core/clock.ts'
import { serverError } from '../engine/core/server-errors.ts'
import {
  digest,
  type FileState,
  isSame,
  makeFolders,
  readState,
  realPath,
  removeFolders,
  replaceFile,
  textOf,
} from './files/config-file.ts'
import { locked } from './files/lock.ts'
import {
  type KeptFile,
  kept,
  type Note,
  noteFolder,
  readNote,
  removeNote,
  stateOf,
  writeNote,
} from './files/note.ts'
import type { Place } from './host.ts'
import type { Target } from './target.ts'
import { unusable } from './text/config-text.ts'

export interface Connection {
  readonly agent: string
  readonly place: Place
  /** The files it writes to, the agent's own configuration last. */
  readonly targets: readonly Target[]
  readonly dataFolder: string
  readonly clock?: Clock
}

/** What happens, or would happen, to one file. */
export interface Change {
  readonly path: string
  readonly kind: 'made' | 'changed' | 'removed'
  /** A unified diff. */
  readonly diff: string
}

interface Step {
  readonly path: string
  readonly before: FileState | undefined
  readonly after: FileState | undefined
}

export interface How {
  /** Only say what would happen. */
  readonly dryRun?: boolean
}

/** Writes our hooks into the agent's configuration. Nothing changes when they are there already. */
export function connect(connection: Connection, { dryRun = false }: How = {}): readonly Change[] {
  const { agent, place, targets, dataFolder, clock = systemClock } = connection
  const folder = noteFolder(dataFolder)
  return alone(folder, dryRun, () => {
    const name = { agent, level: place.level, file: place.file }
    const known = readNote(folder, name)
    const planned = targets.map((target) => plan(target, place, fileIn(known, target.path)))
    const steps = planned.filter(isChange)
    if (dryRun || steps.length === 0) return steps.map(changeOf)
    const folders = planned.flatMap(({ path }) => makeFolders(dirname(realPath(path)), folderMode(place)))
    // First the note: a crash after it leaves something that can be taken back.
    writeNote(folder, {
      version: 1,
      ...name,
      at: clock.now(),
      files: planned.map(({ path, base, after }) => ({
        path,
        before: kept(base),
        after: digest(after?.bytes ?? Buffer.alloc(0)),
      })),
      folders: [...(known?.folders ?? []), ...folders],
    })
    apply(steps)
    return steps.map(changeOf)
  })
}

/** Takes out what is ours and leaves everything else, whoever wrote it since. */
export function disconnect(connection: Connection, { dryRun = false }: How = {}): readonly Change[] {
  const { agent, place, targets, dataFolder } = connection
  const folder = noteFolder(dataFolder)
  return alone(folder, dryRun, () => {
    const name = { agent, level: place.level, file: place.file }
    const known = readNote(folder, name)
    const steps = targets.map((target) => strip(target, fileIn(known, target.path))).filter(isChange)
    if (dryRun) return steps.map(changeOf)
    apply(steps.toReversed())
    if (known !== undefined) {
      removeFolders(known.folders)
      removeNote(folder, name)
    }
    return steps.map(changeOf)
  })
}

/** Puts back, byte for byte, what was there before. */
export function undo(
  { agent, place, dataFolder }: Omit<Connection, 'targets'>,
  { dryRun = false, force = false }: How & { readonly force?: boolean } = {},
): readonly Change[] {
  const folder = noteFolder(dataFolder)
  return alone(folder, dryRun, () => {
    const name = { agent, level: place.level, file: place.file }
    const known = readNote(folder, name)
    if (known === undefined) throw serverError('connect.agent', `no backup of ${place.file} to go back to`)
    const steps = known.files.map(({ path, before }) => ({
      path,
      before: readState(path),
      after: stateOf(before),
    }))
    const foreign = steps.filter((step, index) => isForeign(step, known.files[index]))
    if (foreign.length > 0 && !force) throw changedSince(foreign)
    const needed = steps.filter(isChange)
    if (dryRun) return needed.map(changeOf)
    apply(needed.toReversed())
    removeFolders(known.folders)
    removeNote(folder, name)
    return needed.map(changeOf)
  })
}

/** Who only looks leaves nothing behind, not even a lock. */
function alone<T>(folder: string, dryRun: boolean, work: () => T): T {
  return dryRun ? work() : locked(folder, work)
}

interface Planned extends Step {
  /** What undo goes back to. */
  readonly base: FileState | undefined
}

function plan(target: Target, place: Place, known: KeptFile | undefined): Planned {
  const { path } = target
  const before = readState(realPath(path))
  const base = baseOf(target, before, known)
  refuseUnread(target, before)
  if (before !== undefined && target.isMerged(textOf(path, before)))
    return { path, before, after: before, base }
  const text = target.merged(base === undefined ? undefined : textOf(path, base))
  const mode = before?.mode ?? base?.mode ?? fileMode(place)
  return { path, before, base, after: { bytes: Buffer.from(text), mode } }
}

/** Hooks in a file that its agent does not read would be off without a word. */
function refuseUnread(target: Target, state: FileState | undefined): void {
  const why = state === undefined ? undefined : target.unread?.(textOf(target.path, state))
  if (why !== undefined)
    throw unusable(
      `${why},`,
      'which makes the agent ignore the whole file',
      'Take it out, then connect again.',
    )
}

/** The file without us: as it was if nobody touched it since, else what is left when ours is taken out. */
function baseOf(
  target: Target,
  now: FileState | undefined,
  known: KeptFile | undefined,
): FileState | undefined {
  if (now === undefined) return undefined
  if (known !== undefined && digest(now.bytes) === known.after) return stateOf(known.before)
  const text = textOf(target.path, now)
  const without = target.stripped(text)
  if (without === text) return now
  return without === undefined ? undefined : { bytes: Buffer.from(without), mode: now.mode }
}

function strip(target: Target, known: KeptFile | undefined): Step {
  const before = readState(realPath(target.path))
  return { path: target.path, before, after: baseOf(target, before, known) }
}

function apply(steps: readonly Step[]): void {
  for (const { path, before, after } of steps) replaceFile({ path, expected: before, next: after })
}

/** Neither what we wrote nor what was there before. */
function isForeign({ before: now, after: then }: Step, known: KeptFile | undefined): boolean {
  if (isSame(now, then)) return false
  return now === undefined || digest(now.bytes) !== known?.after
}

function changedSince(steps: readonly Step[]): Error {
  const shown = steps.map((step) => `${step.path}\n${changeOf(step).diff}`).join('\n')
  return serverError(
    'connect.changed',
    `changed since it was connected; undo would do this to it:\n${shown}`,
    {
      hint: '`hookhelm disconnect` takes out our hooks and keeps the rest; `--force` puts the old file back.',
    },
  )
}

function changeOf({ path, before, after }: Step): Change {
  const kind = before === undefined ? 'made' : after === undefined ? 'removed' : 'changed'
  return { path, kind, diff: lineDiff(asText(before), asText(after)) }
}

function asText(state: FileState | undefined): string {
  return state?.bytes.toString('utf8') ?? ''
}

function isChange({ before, after }: Step): boolean {
  return !isSame(before, after)
}

function fileIn(note: Note | undefined, path: string): KeptFile | undefined {
  return note?.files.find((file) => file.path === path)
}

/** What is shared with others must be readable for them. */
function fileMode({ level }: Place): number {
  return level === 'user' ? 0o600 : 0o644
}

function folderMode({ level }: Place): number {
  return level === 'user' ? 0o700 : 0o755
}
