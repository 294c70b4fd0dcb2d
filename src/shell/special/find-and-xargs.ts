import { hasOption, optionValues, type ParsedOption } from '../commands/parse-options.ts'
import type { ProgramCall } from '../commands/program-call.ts'
import { childState, joinWords } from '../commands/run-code.ts'
import { recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, insideStep, type ShellFrame } from '../evaluate/shell-run.ts'
import { eitherWay, forkState, type ShellOutcome } from '../evaluate/shell-state.ts'
import {
  describeField,
  exactField,
  type FieldPiece,
  fieldText,
  isFieldKnown,
  knownText,
  unknownField,
  type WordField,
} from '../expand/shell-text.ts'

/** Runs the command of `xargs`, with the arguments that come from its input as far as they are known. */
export function runXargs({ levels, state, frame, at }: ProgramCall): ShellOutcome {
  const { options, operands } = levels[0].parsed
  for (const field of optionValues(options, 'a'))
    recordFile(state, frame)('reads', { field, by: 'xargs', at })
  const words = operands.length === 0 ? [exactField('echo')] : operands
  const inside: ShellFrame = { ...insideStep(frame, 'xargs'), skipsFunctions: true }
  const items = xargsItems(options, frame)
  // `--replace` and `-i` may go without a value.
  const [replaced] = optionValues(options, 'I', 'J', 'i')
  const token = replaced ? describeField(replaced) : hasOption(options, 'I', 'i') ? '{}' : undefined
  const { stdin: _used, ...rest } = inside
  if (token !== undefined)
    for (const item of items ?? [undefined])
      frame.run.runWords(
        replaceToken(words, token, { value: item ?? { source: token }, quoted: true }),
        forkState(state),
        rest,
      )
  else
    for (const batch of xargsBatches(items, options))
      frame.run.runWords([...words, ...batch], forkState(state), rest)
  return eitherWay(state, [{ source: '$(xargs)' }])
}

/** The items of the input; undefined if they are not certain. */
function xargsItems(options: readonly ParsedOption[], { stdin }: ShellFrame): readonly string[] | undefined {
  const text = knownText(stdin)
  const hasFormat = hasOption(options, 'd', 'a', 'E', 'e', 'l', 'L', 's', 'x')
  if (text === undefined || hasFormat) return undefined
  if (hasOption(options, '0'))
    return text.split('\0').filter((item, index, all) => item !== '' || index < all.length - 1)
  if (/['"\\]/.test(text)) return undefined
  if (hasOption(options, 'I', 'J', 'i'))
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  return text.split(/\s+/).filter((word) => word !== '')
}

function xargsBatches(
  items: readonly string[] | undefined,
  options: readonly ParsedOption[],
): readonly (readonly WordField[])[] {
  if (items === undefined) return [[unknownField('…')]]
  const [limit] = optionValues(options, 'n')
  const size = limit ? Number(describeField(limit)) : items.length
  if (items.length === 0) return [[]]
  if (!Number.isInteger(size) || size < 1 || items.length / size > 200) return [[unknownField('…')]]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size).map(exactField),
  )
}

/** Replaces a token in every word by a value. */
function replaceToken(
  words: readonly WordField[],
  token: string,
  { value, quoted }: FieldPiece,
): WordField[] {
  return words.map((word) =>
    word.flatMap((piece): FieldPiece[] => {
      if (typeof piece.value !== 'string' || !piece.value.includes(token)) return [piece]
      return piece.value
        .split(token)
        .flatMap((text, index): FieldPiece[] => [
          ...(index === 0 ? [] : [{ value, quoted }]),
          ...(text === '' ? [] : [{ value: text, quoted: true }]),
        ])
    }),
  )
}

/** Runs `find`: the commands of `-exec`, the files that `-delete` and `-fprint` touch. */
export function runFind(invocation: Invocation): ShellOutcome {
  const { args, state, frame, at } = invocation
  const isStart = (text: string) => !/^[-(!]/.test(text)
  let index = args.findIndex((arg) => !/^-([HLP]|O\d|D)$/.test(describeField(arg)))
  if (index === -1) index = args.length
  const starts: WordField[] = []
  for (; index < args.length && isStart(describeField(args[index] ?? [])); index++)
    starts.push(args[index] ?? [])
  if (starts.length === 0) starts.push(exactField('.'))
  const expression = args.slice(index)
  // `find . $X`: the value may be `-delete` or `-exec`.
  const hidden = args
    .slice(1)
    .find((arg) => arg.length === 1 && arg[0]?.quoted === false && !isFieldKnown(arg))
  if (hidden)
    frame.run.record.addOpaque('option', `the argument ${describeField(hidden)} of find may run commands`, at)
  const { tests, commands } = readExpression(expression)
  const below = foundBelow(tests)
  const file = recordFile(state, frame)
  for (const [place, arg] of tests.entries()) {
    const text = describeField(arg)
    if (text === '-delete')
      for (const field of starts) file('deletes', { field, by: 'find -delete', at, below })
    if (/^-fprint(0|f)?$|^-fls$/.test(text) && tests[place + 1])
      file('writes', { field: tests[place + 1] ?? [], by: `find ${text}`, at })
  }
  for (const command of commands) runFound(command, { starts, below }, invocation)
  return eitherWay(state, [{ source: '$(find)' }])
}

/** A command of `-exec`, and whether one call of it gets many files. */
interface FoundCommand {
  readonly action: string
  readonly words: readonly WordField[]
  readonly isJoined: boolean
}

/** Separates the commands of `-exec` from the tests and the other actions. */
function readExpression(expression: readonly WordField[]) {
  const tests: WordField[] = []
  const commands: FoundCommand[] = []
  for (let index = 0; index < expression.length; index++) {
    const action = describeField(expression[index] ?? [])
    if (!/^-(exec|ok)(dir)?$/.test(action)) {
      tests.push(expression[index] ?? [])
      continue
    }
    const start = index + 1
    const isEnd = (at: number): boolean => {
      const text = describeField(expression[at] ?? [])
      return text === ';' || (text === '+' && describeField(expression[at - 1] ?? []) === '{}')
    }
    do index++
    while (index < expression.length && !isEnd(index))
    const isJoined = describeField(expression[index] ?? []) === '+'
    commands.push({ action, words: expression.slice(start, index), isJoined })
  }
  return { tests, commands }
}

/** The names that `-name` leaves, if it is the only test of a name. */
function foundBelow(expression: readonly WordField[]): string {
  const texts = expression.map(describeField)
  const names = texts.flatMap((text, index) => (text === '-name' ? [texts[index + 1] ?? '*'] : []))
  const isPlain =
    names.length === 1 && !texts.some((text) => /^-(o|or|not|iname|path|regex)$|^[!(,]$/.test(text))
  return isPlain ? `/**/${names[0]}` : '/**'
}

function runFound(
  { action, words, isJoined }: FoundCommand,
  { starts, below }: { readonly starts: readonly WordField[]; readonly below: string },
  { state, frame }: Invocation,
): void {
  const inside: ShellFrame = { ...insideStep(frame, `find ${action}`), skipsFunctions: true }
  const isFolder = action.endsWith('dir')
  for (const start of starts) {
    const pattern = isFolder ? `./${below.split('/').at(-1)}` : `${describeField(start)}${below}`
    const piece = { source: pattern, pattern }
    const child = isFolder ? { ...forkState(state), cwd: undefined } : forkState(state)
    frame.run.runWords(replaceToken(words, '{}', { value: piece, quoted: !isJoined }), child, inside)
  }
}

/** Runs the template of GNU parallel, which a shell runs, for every argument. */
export function runParallel({ levels, state, frame, at }: ProgramCall): ShellOutcome {
  const { options, operands } = levels[0].parsed
  for (const field of optionValues(options, 'a'))
    recordFile(state, frame)('reads', { field, by: 'parallel', at })
  const colons = operands.findIndex((operand) => /^::::?\+?$/.test(describeField(operand)))
  const template = colons === -1 ? operands : operands.slice(0, colons)
  const inline = colons === -1 ? [] : operands.slice(colons + 1)
  const isInline =
    colons !== -1 && describeField(operands[colons] ?? []) === ':::' && !hasOption(options, 'a')
  const isKnown = isInline && !inline.some((word) => describeField(word).startsWith(':::'))
  const inside: ShellFrame = insideStep(frame, 'parallel')
  const { stdin, ...rest } = inside
  const lines =
    colons === -1 && stdin !== undefined
      ? knownText(stdin)
          ?.split('\n')
          .filter((line) => line !== '')
          .map(exactField)
      : undefined
  const items = isKnown ? inline : (lines ?? [unknownField('…')])
  for (const item of items) {
    const code = template.length === 0 ? fieldText(item) : templateCode(template, item)
    frame.run.runCode(code, childState(state), rest)
  }
  return eitherWay(state, [{ source: '$(parallel)' }])
}

/** `{.}` is the item without its extension, `{/}` its name, `{//}` its folder and `{/.}` its name without extension. */
function partOfItem(token: string, item: WordField) {
  const text = knownText(fieldText(item))
  if (text === undefined) return { source: token }
  const name = text.slice(text.lastIndexOf('/') + 1)
  if (token === '{.}') return text.replace(/\.[^./]*$/, '')
  if (token === '{/}') return name
  if (token === '{/.}') return name.replace(/\.[^.]*$/, '')
  return token === '{//}' ? text.slice(0, text.lastIndexOf('/')) || '.' : { source: token }
}

function templateCode(template: readonly WordField[], item: WordField) {
  const text = joinWords(template)
  const hasToken = text.some((piece) => typeof piece === 'string' && /\{[^}\s]*\}/.test(piece))
  if (!hasToken) return [...text, ' ', ...fieldText(item)]
  return text.flatMap((piece) => {
    if (typeof piece !== 'string') return [piece]
    return piece.split(/(\{[^}\s]*\})/).flatMap((part) => {
      if (part === '{}') return fieldText(item)
      return /^\{[^}\s]*\}$/.test(part) ? [partOfItem(part, item)] : [part]
    })
  })
}
