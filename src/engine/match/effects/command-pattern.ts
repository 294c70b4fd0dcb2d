import type { OpaqueMark, ShellCommand, ShellEffects } from '../../core/shell-effects.ts'
import { compileGlob } from '../glob.ts'
import type { CallEffects } from './call-effects.ts'

type TextTest = (text: string) => boolean

/** A test of commands, compiled from the text of a `Tool(pattern)`. */
export interface CommandPattern {
  fits(command: ShellCommand, effects: CallEffects): boolean
  /** Whether the command may fit when its unknown arguments are known. */
  mayFit(command: ShellCommand, effects: CallEffects): boolean
}

/**
 * A command fits by its text, `rm -rf build`, or by its shape: the program, the flags of the pattern in any order and spelling,
 * and the other words in their order. Only the analyser knows that `-rf` is `--recursive --force`, so it reads the pattern
 * too, when the pattern is first used.
 */
export function compileCommandPattern(inside: string, onText: TextTest): CommandPattern {
  let shape: ReturnType<typeof readShape> | 'none'
  const shapeOf = (effects: CallEffects) => {
    shape ??= readShape(inside, effects) ?? 'none'
    return shape === 'none' ? undefined : shape
  }
  return {
    fits: (command, effects) =>
      variantsOf(command).some(
        (variant) => commandTexts(variant).some(onText) || shapeOf(effects)?.fits(variant) === true,
      ),
    mayFit: (command, effects) => shapeOf(effects)?.program(command) === true,
  }
}

/** An unknown value that may be no argument at all: the command also counts without it. */
function variantsOf(command: ShellCommand): readonly ShellCommand[] {
  const vanishing = command.args.filter(({ many, certainty }) => many && certainty === 'unknown')
  if (vanishing.length === 0) return [command]
  const texts = new Set(vanishing.map(({ text }) => text))
  const args = command.args.filter((argument) => !vanishing.includes(argument))
  return [command, { ...command, args, operands: command.operands.filter((text) => !texts.has(text)) }]
}

/** The command as one text, by the name of its program and as it was written. */
function commandTexts({ program, path, args }: ShellCommand): readonly string[] {
  const words = args.map(({ text }) => text)
  const text = [program, ...words].join(' ')
  return path === undefined ? [text] : [text, [path, ...words].join(' ')]
}

/** The shape of a pattern; undefined if its text is no simple command. */
function readShape(inside: string, effects: CallEffects) {
  const { text, isOpen, isGlued } = readEnd(inside)
  if (text === '') return undefined
  const { commands, opaque }: ShellEffects = effects.ofLine(text)
  // Of `sudo rm` the last command counts, on the way that the pattern says.
  const command = commands.at(-1)
  if (command === undefined || opaque.some(({ reason }) => reason !== 'path')) return undefined
  if (commands.some(({ via }, index) => index > 0 && via.length === 0)) return undefined
  const words = text.split(/\s+/)
  const last = isGlued ? (words.at(-1) ?? '') : ''
  const isGluedFlag = last.startsWith('-')
  const isGluedProgram = isGlued && command.args.length === 0
  const program = toTextTest(isGluedProgram ? `${command.program}*` : command.program)
  // `--force*` also means `--force-with-lease`.
  const prefix = last.startsWith('--') ? last.slice(2) : undefined
  const operands = command.operands.map((word, index, all) =>
    isGlued && !isGluedFlag && index === all.length - 1 ? toTextTest(`${word}*`) : toWordTest(word),
  )
  const { flags, via } = command
  return {
    program: (given: ShellCommand) => program(given.program),
    fits: (given: ShellCommand) =>
      program(given.program) &&
      via.every((step) => given.via.includes(step)) &&
      hasFlags(given, flags, prefix) &&
      (isOpen || hasNoOtherFlags(given, flags)) &&
      fitsWords(operands, given.operands, isOpen),
  }
}

/** `git push*` and `git push:*` accept more words; only the first accepts `git pushes`. */
function readEnd(inside: string): { text: string; isOpen: boolean; isGlued: boolean } {
  if (inside.endsWith(':*')) return { text: inside.slice(0, -2).trim(), isOpen: true, isGlued: false }
  const text = inside.replace(/\*+$/, '')
  const isOpen = text !== inside
  return { text: text.trim(), isOpen, isGlued: isOpen && !/\s$/.test(text) }
}

/** A word of a pattern; a `*` of its own stands for any number of words. */
type WordTest = TextTest | 'any'

function toWordTest(word: string): WordTest {
  return word === '*' ? 'any' : toTextTest(word)
}

function toTextTest(pattern: string): TextTest {
  return compileGlob(pattern, { at: 'matcher', classes: false })
}

function hasFlags(given: ShellCommand, wanted: readonly string[], prefix: string | undefined): boolean {
  return wanted.every(
    (flag) =>
      given.flags.includes(flag) ||
      (prefix !== undefined && given.flags.some((other) => other.startsWith(prefix))),
  )
}

/** Options before a subcommand are those of the program: `git -C sub push`. */
function hasNoOtherFlags({ flags, args, subcommand }: ShellCommand, wanted: readonly string[]): boolean {
  if (flags.length <= wanted.length) return true
  const start = subcommand === undefined ? -1 : args.findIndex(({ text }) => text === subcommand)
  return start > 0 && !args.slice(start).some(({ text }) => text.startsWith('-'))
}

/** Goes back only to the last `*`, as a glob does with characters. */
function fitsWords(tests: readonly WordTest[], words: readonly string[], isOpen: boolean): boolean {
  let test = 0
  let index = 0
  let lastAny = -1
  let resume = 0
  while (index < words.length) {
    const wanted = tests[test]
    if (wanted === undefined && isOpen) return true
    if (wanted === 'any') {
      lastAny = test++
      resume = index
    } else if (wanted?.(words[index] ?? '')) {
      test++
      index++
    } else {
      if (lastAny < 0) return false
      test = lastAny + 1
      index = ++resume
    }
  }
  return tests.slice(test).every((wanted) => wanted === 'any')
}

const MAX_SHOWN = 160

/** The command in words for a record: `rm -rf build, through sudo → sh -c`. */
export function describeCommand({ program, path, args, via, remote }: ShellCommand): string {
  const words = [path ?? program, ...args.map(({ text }) => text)].join(' ')
  const shown = words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN)}…` : words
  const way = via.length === 0 ? '' : `, through ${via.join(' → ')}`
  return `runs ${shown}${way}${remote === undefined ? '' : `, on ${remote}`}`
}

/** What may hide a command: marks of the line, except for unknown paths, and unknown arguments of a command that may fit. */
export function hiddenCommands(
  { opaque, commands }: ShellEffects,
  mayFit: (command: ShellCommand) => boolean,
): readonly OpaqueMark[] {
  const marks = opaque.filter(({ reason }) => reason !== 'path')
  const uncertain = commands.flatMap((command): OpaqueMark[] => {
    const { program, args, at } = command
    const unknown = args.find(({ certainty }) => certainty === 'unknown')
    if (unknown === undefined || !mayFit(command)) return []
    return [{ reason: 'argument', detail: `the argument ${unknown.text} of ${program} is not known`, at }]
  })
  return [...marks, ...uncertain]
}
