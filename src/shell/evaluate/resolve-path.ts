import { posix } from 'node:path'
import type { Certainty, FileEffect, ShellEffects } from '../../engine/core/shell-effects.ts'
import {
  describePath,
  fieldCertainty,
  fieldText,
  knownText,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import type { FileEffectKind } from './effect-recorder.ts'
import type { Mount, ShellFrame, ShellRun } from './shell-run.ts'
import { type ShellState, writeFileContent } from './shell-state.ts'

/** Devices that are no files: writing to them changes nothing. */
const devices = /^\/dev\/(null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd(\/.*)?)$/

/** An absolute path without `.` and `..`; undefined if the folder is unknown. */
export function absolutePath(path: string, cwd: string | undefined): string | undefined {
  if (path.startsWith('/')) return posix.normalize(path)
  return cwd === undefined ? undefined : posix.join(cwd, path)
}

/** The path of an argument if it is certain. */
export function certainPath(field: WordField, cwd: string | undefined): string | undefined {
  const text = fieldCertainty(field) === 'exact' ? knownText(fieldText(field)) : undefined
  return text === undefined || text === '' ? undefined : absolutePath(text, cwd)
}

/** They change a file but not its content. */
const attributePrograms = new Set(['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'touch'])

/** Records that a file is read, written or deleted. `below` is appended to the path: `/**` for everything below. */
export function recordFile(state: ShellState, frame: ShellFrame) {
  const { run } = frame
  return (
    kind: FileEffectKind,
    { field, by, at, below = '' }: { field: WordField; by: string; at: number; below?: string },
  ): void => {
    const written = describePath(field)
    if (written === '' || (written === '-' && kind === 'reads')) return
    const certainty = fieldCertainty(field)
    const named = certainty === 'unknown' ? undefined : absolutePath(written, state.cwd)
    const path = frame.remote === undefined ? named : outsidePath(named, below, frame.mounts)
    // Files of other machines and containers are not files of this session.
    if (frame.remote !== undefined && path === undefined) return
    if (path !== undefined && devices.test(path)) return
    const effect = describeEffect(path, { written, below, certainty }, run)
    run.record.addFile(kind, { ...effect, by, at })
    if (effect.certainty === 'exact' && kind !== 'deletes') recordHardLinks(kind, { ...effect, by, at }, run)
    if (kind === 'reads') return
    if (path !== undefined && throughLinks(path, run) === 'unknown')
      run.record.addOpaque('path', `where the link ${path} leads is not known`, at)
    if (effect.certainty === 'unknown')
      run.record.addOpaque('path', `the path ${written} that ${by} ${kind} is not known`, at)
    else if (path !== undefined && !attributePrograms.has(by))
      writeFileContent(state, path, unknownText(path))
  }
}

/** A file with several names is read and written under each of them, also if an earlier call made the names. */
function recordHardLinks(kind: FileEffectKind, file: FileEffect, run: ShellRun): void {
  const linked = run.context.hardLinks?.(file.target ?? file.path)
  const { target: _target, ...plain } = file
  for (const path of linked?.names ?? []) run.record.addFile(kind, { ...plain, path })
  if (linked && linked.missing > 0 && kind === 'writes')
    run.record.addOpaque(
      'path',
      `${file.path} is a hard link, and where its other names are is not known`,
      file.at,
    )
}

/** The path on this machine of a file that a container names; undefined if it is not mounted. */
function outsidePath(
  path: string | undefined,
  below: string,
  mounts: readonly Mount[] = [],
): string | undefined {
  if (path === undefined) return undefined
  for (const { outside, inside } of mounts) {
    if (path === inside || path.startsWith(inside === '/' ? '/' : `${inside}/`))
      return posix.join(outside, path.slice(inside.length))
    // Everything below a folder that contains the mount.
    if (below !== '' && inside.startsWith(path === '/' ? '/' : `${path}/`)) return outside
  }
  return undefined
}

function describeEffect(
  path: string | undefined,
  { written, below, certainty }: { written: string; below: string; certainty: Certainty },
  run: ShellRun,
): Pick<FileEffect, 'path' | 'certainty' | 'target'> {
  if (path === undefined) return { path: written + below, certainty: 'unknown' }
  const clean = path.length > 1 ? path.replace(/\/$/, '') : path
  const target = resolveTarget(clean, certainty, run)
  const effect = {
    path: (clean === '/' ? '' : clean) + below || '/',
    certainty: below === '' ? certainty : ('pattern' as const),
  }
  return target === undefined || target === clean ? effect : { ...effect, target: target + below }
}

/** Where a path leads after symbolic links, those included that the line makes. Of a pattern, its known folders are resolved. */
function resolveTarget(path: string, certainty: Certainty, run: ShellRun): string | undefined {
  const { resolveLink } = run.context
  const linked = throughLinks(path, run)
  const own = linked === 'unknown' || linked === undefined ? path : linked
  if (certainty === 'exact') return resolveLink?.(own) ?? own
  const [folder = ''] = /^[^*?[]*(?=\/)/.exec(own) ?? []
  const resolved = folder === '' ? undefined : resolveLink?.(folder)
  return (resolved ?? folder) + own.slice(folder.length)
}

/**
 * The effects with what is behind the links of the line. A loop, a background command or a process substitution may use a
 * link before the analysis has come to the command that makes it.
 */
export function followLinks(effects: ShellEffects, run: ShellRun): ShellEffects {
  if (run.links.size === 0) return effects
  const follow = (files: readonly FileEffect[]) =>
    files.map((effect) => {
      // The command that makes a link does not write to where it leads.
      const isMaker = linkMakers.test(effect.by) && run.links.has(effect.path)
      const linked = effect.certainty === 'unknown' || isMaker ? undefined : throughLinks(effect.path, run)
      return linked === undefined || linked === 'unknown' || effect.target !== undefined
        ? effect
        : { ...effect, target: linked }
    })
  const { reads, writes, deletes } = effects
  return { ...effects, reads: follow(reads), writes: follow(writes), deletes: follow(deletes) }
}

const linkMakers = /^g?(?:ln|link|cp|mount)$/

/** Links that lead in a circle end here. */
const MAX_LINKS = 8

/** The path behind links of the line; undefined if none is on the way. */
function throughLinks(path: string, { links }: ShellRun): string | 'unknown' | undefined {
  let current: string | undefined
  for (let step = 0; step < MAX_LINKS && links.size > 0; step++) {
    const at = current ?? path
    const link = [...links.keys()].find((each) => at === each || at.startsWith(`${each}/`))
    if (link === undefined) return current
    const target = links.get(link)
    if (target === undefined) return 'unknown'
    current = posix.normalize(target + at.slice(link.length))
  }
  return current
}
