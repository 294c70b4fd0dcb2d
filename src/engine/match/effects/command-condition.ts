import type { CommandCondition, Match } from '../../core/hook.ts'
import type { ShellCommand } from '../../core/shell-effects.ts'
import { compileGlob } from '../glob.ts'
import type { MatchPart } from '../match-part.ts'
import type { CallEffects } from './call-effects.ts'
import { describeCommand, hiddenCommands } from './command-pattern.ts'

/** `match.command`: a command that a shell line of the call runs, however it is spelled. One of several must run. */
export function commandPart(given: NonNullable<Match['command']>): MatchPart | undefined {
  const list: readonly CommandCondition[] = isList(given) ? given : [given]
  const wanted = list.map((entry, index) =>
    compileCommand(entry, isList(given) ? `match.command.${index}` : 'match.command'),
  )
  return {
    kind: 'command',
    source: JSON.stringify(given),
    effects: {
      find(_input, effects) {
        const found = effects
          .shell()
          .commands.find((command) => wanted.some(({ fits }) => fits(command, effects)))
        return found === undefined ? undefined : describeCommand(found)
      },
      hidden: (_input, effects) =>
        hiddenCommands(effects.shell(), (command) => wanted.some(({ mayFit }) => mayFit(command))),
    },
  }
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}

/** `mayFit`: whether a command may fit when its unknown arguments are known. */
function compileCommand(entry: CommandCondition, at: string) {
  const { flags = [], any_flags = [], without_flags = [], args = [], via = [], remote } = entry
  const program = anyOf(entry.program, `${at}.program`)
  const subcommand = entry.subcommand === undefined ? undefined : anyOf(entry.subcommand, `${at}.subcommand`)
  const argTests = args.map((pattern, index) =>
    compileGlob(pattern, { at: `${at}.args.${index}`, classes: false }),
  )
  const wantedFlags = flags.map(withoutHyphens)
  const anyFlags = any_flags.map(withoutHyphens)
  const unwantedFlags = without_flags.map(withoutHyphens)
  const isThere = (command: ShellCommand) =>
    (program(command.program) || (command.path !== undefined && program(command.path))) &&
    via.every((step) => command.via.some((passed) => passed === step || passed.startsWith(`${step} `))) &&
    (remote === undefined || remote === (command.remote !== undefined))
  const fits = (command: ShellCommand, effects: CallEffects) =>
    isThere(command) &&
    (subcommand === undefined || (command.subcommand !== undefined && subcommand(command.subcommand))) &&
    wantedFlags.every((flag) => hasFlag(command, flag, effects)) &&
    (anyFlags.length === 0 || anyFlags.some((flag) => hasFlag(command, flag, effects))) &&
    !unwantedFlags.some((flag) => hasFlag(command, flag, effects)) &&
    argTests.every((test) => command.args.some(({ text }) => test(text)))
  return { fits, mayFit: isThere }
}

/** A long name counts like the short one, which only the analyser knows: `force` is `f` of `rm`. */
function hasFlag(command: ShellCommand, flag: string, effects: CallEffects): boolean {
  const { program, subcommand = '', flags } = command
  if (flags.includes(flag)) return true
  if (flag.length < 2 || flags.length === 0 || !/^[\w-]+$/.test(`${program}${subcommand}${flag}`))
    return false
  const [alone] = effects.ofLine(`${program} ${subcommand} --${flag}`).commands
  return alone?.flags.some((short) => flags.includes(short)) ?? false
}

/** `--force` means the same as `force`. */
function withoutHyphens(flag: string): string {
  return flag.replace(/^-{1,2}(?=.)/, '')
}

function anyOf(names: string | readonly string[], at: string): (text: string) => boolean {
  const tests = (typeof names === 'string' ? [names] : names).map((name) =>
    compileGlob(name, { at, classes: false }),
  )
  return (text) => tests.some((test) => test(text))
}
