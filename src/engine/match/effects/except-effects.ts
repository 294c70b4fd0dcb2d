import { posix } from 'node:path'
import { HookError } from '../../core/errors/error.ts'
import {
  type FileEffect,
  type HostEffect,
  type ShellCommand,
  temporaryFolder,
} from '../../core/shell-effects.ts'
import { compileGlob } from '../glob.ts'
import type { MatchInput } from '../match-part.ts'
import { type FilePlace, pathSpellings } from '../tool-arguments.ts'
import { isException, readToolPattern, toolPatternAt } from '../tool-pattern.ts'
import type { CallEffects } from './call-effects.ts'
import { compileCommandPattern } from './command-pattern.ts'
import { type FileKind, fileKindsOf, isEffectName } from './effect-names.ts'
import { homes } from './effect-pattern.ts'
import { compileHost } from './host-pattern.ts'
import { pathsOverlap } from './path-overlap.ts'

/** An entry of `match.names` with a `!`: what it fits does not count for the effects that the other entries look for. */
interface Exception {
  readonly tool: string
  readonly inside: string
  readonly at: string
}

interface ExceptedPlace extends FilePlace {
  readonly guarded?: readonly string[] | undefined
}

/** Whether an exception fits a file. */
type ExceptedFile = (file: FileEffect, place: ExceptedPlace) => boolean

/** The effects of a call that the entry with this pattern looks at: those that no exception fits. What is opaque stays. */
export type Exceptions = (inside: string, input: MatchInput, effects: CallEffects) => CallEffects

/** Compiles the exceptions among the entries of `match.names`. */
export function compileExceptions(names: readonly string[]): Exceptions {
  const given = names.flatMap((name, index): Exception[] =>
    isException(name) ? [{ ...toolPatternAt(name.slice(1), index), at: `match.names.${index}` }] : [],
  )
  assertExceptions(
    given,
    names.map((name) => readToolPattern(name)?.tool ?? ''),
  )
  const exceptions = given.filter(({ inside }) => inside !== '**')
  const namedOnly = new Set(
    given.filter(({ inside }) => inside === '**').flatMap(({ tool }) => fileKindsOf(tool)),
  )
  const isExceptedHost = compileHosts(exceptions)
  const isExceptedCommand = compileCommands(exceptions)
  const fileTests = {
    reads: compileFiles(exceptions, 'reads'),
    writes: compileFiles(exceptions, 'writes'),
    deletes: compileFiles(exceptions, 'deletes'),
  }
  return (inside, input, effects) => ({
    ...effects,
    all() {
      const all = effects.all()
      const shell = effects.shell()
      const places = exceptedPlaces(shell.commands, (command) => isExceptedCommand(command, effects))
      const isExceptedPlace = ({ by, at }: FileEffect | HostEffect) => places.has(`${at} ${by}`)
      const place = { ...input.envelope, homes: all.homes, guarded: all.guarded }
      const files = (kind: FileKind) =>
        all[kind]
          .filter((file) => !fileTests[kind](file, place))
          .filter((file) => !(isExceptedPlace(file) && shell[kind].includes(file)))
          .map((file) =>
            namedOnly.has(kind) && !mayName(file, inside) ? { ...file, certainty: 'exact' as const } : file,
          )
      return {
        ...all,
        reads: files('reads'),
        writes: files('writes'),
        deletes: files('deletes'),
        hosts: all.hosts
          .filter((host) => !isExceptedHost(host))
          .filter((host) => !(isExceptedPlace(host) && shell.hosts.includes(host))),
      }
    },
  })
}

/**
 * Whether a pattern of the shell may stand for a file that the hook names. All files of a folder (`src/*`, `tar czf x.tgz .`) name
 * none, and what `a*` of a shell and `*.key` of a hook have in common is no name that one of them says.
 */
function mayName({ path }: FileEffect, inside: string): boolean {
  return !/(^|\/)\*+$/.test(path) && !/\*[^/]*$/.test(inside)
}

function compileFiles(exceptions: readonly Exception[], kind: FileKind): ExceptedFile {
  const tests = exceptions
    .filter(({ tool }) => fileKindsOf(tool).includes(kind))
    .map(({ inside, at }) => compileExceptedPath(inside, at))
  return (file, place) => tests.some((test) => test(file, place))
}

/** A host of which a part is unknown may be any host. */
function compileHosts(exceptions: readonly Exception[]): (host: HostEffect) => boolean {
  const tests = exceptions
    .filter(({ tool }) => tool === 'Network')
    .map(({ inside, at }) => compileHost(inside, at))
  return ({ host, certainty }) => certainty === 'exact' && tests.some((test) => test(host))
}

function compileCommands(
  exceptions: readonly Exception[],
): (command: ShellCommand, effects: CallEffects) => boolean {
  const patterns = exceptions
    .filter(({ tool }) => tool === 'Bash')
    .map(({ inside, at }) => compileCommandPattern(inside, compileGlob(inside, { at, classes: false })))
  return (command, effects) => patterns.some((pattern) => pattern.fits(command, effects))
}

/**
 * The places of a line and the programs whose effects do not count. Code inside of an argument has the place of the command
 * that runs it, so every command of the place with that program must be excepted.
 */
function exceptedPlaces(
  commands: readonly ShellCommand[],
  isExcepted: (command: ShellCommand) => boolean,
): ReadonlySet<string> {
  const placeOf = ({ at, program }: ShellCommand) => `${at} ${program}`
  const counted = new Set(commands.filter((command) => !isExcepted(command)).map(placeOf))
  return new Set(commands.map(placeOf).filter((place) => !counted.has(place)))
}

/**
 * The path of an exception: `!Read(*.example)`. It must certainly fit, so a pattern of the shell fits only as a whole, and a
 * symbolic link only if its target does too.
 */
function compileExceptedPath(inside: string, at: string): ExceptedFile {
  const isRelative = inside.startsWith('./')
  const bare = isRelative ? inside.slice(2) : inside
  const written = bare.startsWith('~/') ? homes.map((home) => `${home}${bare.slice(1)}`) : [bare]
  const globs = written
    // One character of a name, but not a `*` of the shell that stands for many.
    .map((pattern) => pattern.replace(/[?[]/g, (character) => (character === '?' ? '[!*?[]' : '[[]')))
    .map((pattern) => compileGlob(pattern, { at, classes: true }))
  const fits = (text: string) =>
    !(isRelative && /^([/~$]|\.{1,2}$|\.\.\/)/.test(text)) && globs.some((glob) => glob(text))
  const isTemporary = temporaryFolder.test(inside)
  return ({ path, target = path }, place) =>
    !(isTemporary && [path, target].some((each) => mayBeGuarded(each, place))) &&
    // As written, `build/../..` would be inside of `./*`.
    [path, target].every((each) => pathSpellings(posix.normalize(each), place).some(fits))
}

/** Whether a change may concern a folder that is not temporary although it may lie in a folder for temporary files. */
function mayBeGuarded(
  path: string,
  { cwd, project, homes: known = [], guarded = [] }: ExceptedPlace,
): boolean {
  const folders = [...known, ...guarded, cwd, project].filter(
    (folder) => folder !== undefined && folder !== '/',
  )
  return folders.some(
    (folder) =>
      `${folder}/`.startsWith(`${path}/`) ||
      pathsOverlap(`${folder}`, path) ||
      pathsOverlap(`${folder}/*`, path),
  )
}

/** Refuses exceptions that would except nothing. */
function assertExceptions(given: readonly Exception[], tools: readonly string[]): void {
  for (const { tool, at } of given)
    if (tool !== 'Bash' && !isEffectName(tool))
      throw new HookError('match.syntax', `${at} excepts calls of ${tool}, which are no effects`, {
        at,
        hint: 'After `!`, write Read(…), Write(…), Edit(…), Delete(…), Network(…) or Bash(…).',
      })
  if (tools.some(isEffectName)) return
  const at = given[0]?.at ?? 'match.names'
  throw new HookError('match.syntax', `${at} excepts something, and no entry looks for an effect`, {
    at,
    hint: 'Add what must match: Read(…), Write(…), Edit(…), Delete(…) or Network(…).',
  })
}
