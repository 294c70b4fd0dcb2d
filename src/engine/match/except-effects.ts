import { HookError } from '../core/error.ts'
import type { FileEffect, HostEffect, ShellCommand } from '../core/shell-effects.ts'
import type { CallEffects } from './call-effects.ts'
import { compileCommandPattern } from './command-pattern.ts'
import { compileExceptedPath, type FileKind, fileKindsOf } from './effect-pattern.ts'
import { compileGlob } from './glob.ts'
import { compileHost } from './host-pattern.ts'
import type { MatchInput } from './match-part.ts'

/** An entry of `match.names` with a `!`: what it fits does not count for the effects that the other entries look for. */
export interface Exception {
  readonly tool: string
  readonly inside: string
  readonly at: string
}

/** The compiled exceptions of one list. */
export interface Exceptions {
  /** The effects of a call without what the exceptions fit. What is opaque stays. */
  apply(input: MatchInput, effects: CallEffects): CallEffects
  /** Whether patterns of the shell count only for entries that name a file without `*`: `!Read(**)`. */
  isNamedOnly(tool: string): boolean
}

type FileTest = (file: FileEffect, input: MatchInput) => boolean

/** Compiles the exceptions of one list. */
export function compileExceptions(given: readonly Exception[]): Exceptions {
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
  const apply: Exceptions['apply'] = (input, effects) => ({
    ...effects,
    all() {
      const all = effects.all()
      const shell = effects.shell()
      const places = exceptedPlaces(shell.commands, (command) => isExceptedCommand(command, effects))
      const isExceptedPlace = ({ by, at }: FileEffect | HostEffect) => places.has(`${at} ${by}`)
      const files = (kind: FileKind) =>
        all[kind]
          .filter((file) => !fileTests[kind](file, input))
          .filter((file) => !(isExceptedPlace(file) && shell[kind].includes(file)))
          .map((file) =>
            namedOnly.has(kind) && isWholeFolder(file) ? { ...file, certainty: 'exact' as const } : file,
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
  return { apply, isNamedOnly: (tool) => fileKindsOf(tool).some((kind) => namedOnly.has(kind)) }
}

/** All files of a folder, of which none is named: `src/*`, and the folder of `tar czf x.tgz .`. */
function isWholeFolder({ path }: FileEffect): boolean {
  return /(^|\/)\*+$/.test(path)
}

function compileFiles(exceptions: readonly Exception[], kind: FileKind): FileTest {
  const tests = exceptions
    .filter(({ tool }) => fileKindsOf(tool).includes(kind))
    .map(({ inside, at }) => compileExceptedPath(inside, at))
  return (file, { envelope }) => tests.some((test) => test(file, envelope))
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

/** Refuses an exception that would except nothing. */
export function assertException({ tool, at }: Exception): void {
  if (tool === 'Bash' || tool === 'Network' || fileKindsOf(tool).length > 0) return
  throw new HookError('match.syntax', `${at} excepts calls of ${tool}, which are no effects`, {
    at,
    hint: 'After `!`, write Read(…), Write(…), Edit(…), Delete(…), Network(…) or Bash(…).',
  })
}
