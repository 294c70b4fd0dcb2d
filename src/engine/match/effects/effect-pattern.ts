import { posix } from 'node:path'
import type { FileEffect, OpaqueMark } from '../../core/shell-effects.ts'
import { compileGlob } from '../glob.ts'
import type { EffectCondition } from '../match-part.ts'
import { type FilePlace, pathSpellings } from '../tool-arguments.ts'
import { type FileKind, fileKindsOf } from './effect-names.ts'
import { compileHost } from './host-pattern.ts'
import { pathsOverlap } from './path-overlap.ts'

/** The condition of `Write(…)`, `Edit(…)`, `Read(…)`, `Delete(…)` and `Network(…)`. */
export function compileEffectPattern(name: string, inside: string, at: string): EffectCondition {
  return name === 'Network' ? hostCondition(inside, at) : fileCondition(fileKindsOf(name), inside, at)
}

function fileCondition(kinds: readonly FileKind[], inside: string, at: string): EffectCondition {
  const fits = compilePath(inside, at)
  const bare = inside.replace(/^[./]*\//, '')
  const hidesPaths = kinds.includes('deletes')
  return {
    find(input, effects) {
      const all = effects.all()
      const place = { ...input.envelope, homes: all.homes }
      for (const kind of kinds)
        for (const file of all[kind]) if (fits(file, place)) return `${kind} ${describeFile(file)}`
      return undefined
    },
    hidden({ envelope: { cwd } }, effects) {
      const all = effects.all()
      // A path that is only read has no mark of its own. And without the folder of the session, a relative path and an absolute one that end alike may be the same file.
      const isUnknown = ({ path, certainty }: FileEffect) =>
        (certainty === 'unknown' && !hidesPaths) ||
        (cwd === undefined && (path.endsWith(bare) || inside.endsWith(path)))
      return [
        ...all.opaque.filter(({ reason }) => hidesPaths || reason !== 'path'),
        ...kinds.flatMap((kind) => all[kind].filter(isUnknown).map(unknownPath)),
      ]
    },
  }
}

function unknownPath({ path, by, at }: FileEffect): OpaqueMark {
  return { reason: 'path', detail: `the path ${path} that ${by} uses is not known`, at }
}

function describeFile({ path, target, by }: FileEffect): string {
  return `${path}${target === undefined ? '' : ` → ${target}`} (${by})`
}

/** Whether a pattern fits a file. */
export type FileTest = (file: FileEffect, place: FilePlace) => boolean

/** Homes of users: the analyser may know the home folder, and the pattern says `~`. */
export const homes = ['~', '/root', '/home/*', '/Users/*'] as const

function compilePath(inside: string, at: string): FileTest {
  const bare = inside.startsWith('./') ? [inside.slice(2)] : []
  const written = inside.startsWith('~/')
    ? homes.map((home) => `${home}${inside.slice(1)}`)
    : [inside, ...bare]
  const globs = written.map((pattern) => compileGlob(pattern, { at, classes: false }))
  const fitsText = (text: string) => globs.some((glob) => glob(text))
  const overlaps = (text: string, { cwd, project = cwd, homes: known = [] }: FilePlace) =>
    [...inHomeOf(text, inside, written), ...inHomes(inside, known)].some(
      (pattern) => isComparable(pattern, text, cwd) && pathsOverlap(pattern, text),
    ) ||
    // An absolute pattern of the shell may stand for the folder of the session.
    (project !== undefined && !/^[/~*]/.test(inside) && pathsOverlap(posix.join(project, inside), text))
  return ({ path, target, certainty }, place) => {
    const spellings = [path, ...(target === undefined ? [] : [target])].flatMap((each) =>
      pathSpellings(each, place),
    )
    // Everything below a folder includes the folder of a pattern that is deeper.
    return (
      spellings.some(fitsText) ||
      ((certainty === 'pattern' || path.startsWith('~/')) && spellings.some((text) => overlaps(text, place)))
    )
  }
}

/** A pattern for `~/` in the home folders that are known. */
function inHomes(inside: string, known: readonly string[]): readonly string[] {
  return inside.startsWith('~/') ? known.map((home) => `${home}${inside.slice(1)}`) : []
}

/** The patterns for `~/`: if the text names one home, only that one, because the `*` of `/home/*` also matches folders in it. */
function inHomeOf(text: string, inside: string, written: readonly string[]): readonly string[] {
  const home = /^(~|\/root|\/(home|Users)\/[^/*]+)(?=\/)/.exec(text)?.[0]
  return home === undefined || !inside.startsWith('~/') ? written : [`${home}${inside.slice(1)}`]
}

/**
 * Whether two patterns speak about the same files. A path that is relative to a known folder is not absolute. And any folder may
 * have a `.env` somewhere below: a pattern for every `.env` means such a tree only if the session works in it.
 */
function isComparable(pattern: string, text: string, cwd: string | undefined): boolean {
  if (cwd === undefined) return true
  if (/^[/~]/.test(pattern) && !/^[/~]/.test(text)) return false
  if (!pattern.startsWith('*') || !text.endsWith('/**')) return true
  const root = text.slice(0, -'/**'.length)
  return `${cwd}/`.startsWith(`${root}/`)
}

function hostCondition(inside: string, where: string): EffectCondition {
  const fits = compileHost(inside, where)
  return {
    find(_input, effects) {
      const found = effects.all().hosts.find(({ host }) => fits(host))
      return found === undefined ? undefined : `contacts ${found.host} (${found.by})`
    },
    hidden(_input, effects) {
      const { opaque, hosts } = effects.all()
      // The name of a git remote stands for itself: only the configuration of the repository knows its host.
      const unknown = hosts.filter(({ certainty, by }) => certainty !== 'exact' && by !== 'git')
      return [
        ...opaque.filter(({ reason }) => reason !== 'path'),
        ...unknown.map(({ host, by, at }): OpaqueMark => {
          return { reason: 'argument', detail: `the host ${host} that ${by} contacts is not known`, at }
        }),
      ]
    },
  }
}
