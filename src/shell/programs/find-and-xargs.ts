import { recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, type ShellFrame, viaStep } from '../evaluate/shell-run.ts'
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
import { hasOption, optionValues, type ParsedOption, parseOptions } from './parse-options.ts'
import { readSpec } from './program-options.ts'
import { childState, joinWords } from './run-wrapper.ts'

const xargsOptions = readSpec(
  '+ replace=I: max-args=n: max-procs=P: max-lines=L: delimiter=d: arg-file=a: eof=E: max-chars=s: null=0 no-run-if-empty=r verbose=t interactive=p exit=x open-tty=o show-limits process-slot-var: J: R: S: i l',
)

/** Runs the command of `xargs`, with the arguments that come from its input as far as they are known. */
export function runXargs({ args, state, frame, at }: Invocation): ShellOutcome {
  const { options, operands } = parseOptions(args, xargsOptions)
  for (const field of optionValues(options, 'a'))
    recordFile(state, frame)('reads', { field, by: 'xargs', at })
  const words = operands.length === 0 ? [exactField('echo')] : operands
  const inside: ShellFrame = { ...viaStep(frame, 'xargs'), depth: frame.depth + 1, skipsFunctions: true }
  const items = xargsItems(options, frame)
  const [replaced] = optionValues(options, 'I', 'J')
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
  const hasFormat = hasOption(options, 'd', 'a', 'E', 'l', 'L', 's', 'x')
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
  const file = recordFile(state, frame)
  for (const [place, arg] of expression.entries()) {
    const text = describeField(arg)
    if (text === '-delete')
      for (const field of starts)
        file('deletes', { field, by: 'find -delete', at, below: foundBelow(expression) })
    if (/^-fprint(0|f)?$|^-fls$/.test(text) && expression[place + 1])
      file('writes', { field: expression[place + 1] ?? [], by: `find ${text}`, at })
    if (/^-(exec|ok)(dir)?$/.test(text))
      runFound(
        { text, words: expression.slice(place + 1), starts, below: foundBelow(expression) },
        invocation,
      )
  }
  return eitherWay(state, [{ source: '$(find)' }])
}

/** The names that `-name` leaves, if it is the only test of a name. */
function foundBelow(expression: readonly WordField[]): string {
  const texts = expression.map(describeField)
  const names = texts.flatMap((text, index) => (text === '-name' ? [texts[index + 1] ?? '*'] : []))
  const isPlain =
    names.length === 1 && !texts.some((text) => /^-(o|or|not|iname|path|regex)$|^[!(,]$/.test(text))
  return isPlain ? `/**/${names[0]}` : '/**'
}

interface FoundCommand {
  readonly text: string
  readonly words: readonly WordField[]
  readonly starts: readonly WordField[]
  readonly below: string
}

function runFound({ text, words, starts, below }: FoundCommand, { state, frame }: Invocation): void {
  const end = words.findIndex((word, index) => {
    const written = describeField(word)
    return written === ';' || (written === '+' && describeField(words[index - 1] ?? []) === '{}')
  })
  const command = end === -1 ? words : words.slice(0, end)
  const inside: ShellFrame = {
    ...viaStep(frame, `find ${text}`),
    depth: frame.depth + 1,
    skipsFunctions: true,
  }
  const isFolder = text.endsWith('dir')
  // With `+` one command gets many files.
  const isEach = describeField(words[end] ?? []) !== '+'
  for (const start of starts) {
    const pattern = isFolder ? `./${below.split('/').at(-1)}` : `${describeField(start)}${below}`
    const piece = { source: pattern, pattern }
    const child = isFolder ? { ...forkState(state), cwd: undefined } : forkState(state)
    frame.run.runWords(replaceToken(command, '{}', { value: piece, quoted: isEach }), child, inside)
  }
}

const parallelOptions = readSpec(
  '+ jobs=j: max-procs=P: arg-file=a: colsep=C: delimiter=d: I: max-args=n: N: max-lines=L: X m keep-order=k verbose=v quiet no-notice will-cite bar eta progress dry-run tag joblog: results: retries: timeout: delay: halt: sshlogin=S: load: memfree: workdir=wd: tmpdir: pipe block: null=0 no-run-if-empty=r shebang ungroup=u line-buffer=lb group xapply link env: nice: plain color',
)

/** Runs the template of GNU parallel, which a shell runs, for every argument. */
export function runParallel({ args, state, frame, at }: Invocation): ShellOutcome {
  const { options, operands } = parseOptions(args, parallelOptions)
  for (const field of optionValues(options, 'a'))
    recordFile(state, frame)('reads', { field, by: 'parallel', at })
  const colons = operands.findIndex((operand) => /^::::?\+?$/.test(describeField(operand)))
  const template = colons === -1 ? operands : operands.slice(0, colons)
  const inline = colons === -1 ? [] : operands.slice(colons + 1)
  const isInline =
    colons !== -1 && describeField(operands[colons] ?? []) === ':::' && !hasOption(options, 'a')
  const isKnown = isInline && !inline.some((word) => describeField(word).startsWith(':::'))
  const inside: ShellFrame = { ...viaStep(frame, 'parallel'), depth: frame.depth + 1 }
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
