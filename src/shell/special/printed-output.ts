import { hasOption, optionValues } from '../commands/parse-options.ts'
import type { ProgramCall } from '../commands/program-call.ts'
import { joinWords } from '../commands/run-code.ts'
import { fileText } from '../evaluate/script-content.ts'
import type { Invocation } from '../evaluate/shell-run.ts'
import {
  describeField,
  EMPTY_TEXT,
  exactField,
  fieldText,
  hasPattern,
  isFieldKnown,
  knownText,
  type ShellText,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import { decodeEscapes } from '../parse/ansi-c-string.ts'

export function printsNothing(): ShellText {
  return EMPTY_TEXT
}

/** Programs that print one word without a slash, if their arguments are like this, so that it may be a part of the name of a file. */
export function printsWord(wanted: RegExp, unwanted?: RegExp): (call: Invocation) => ShellText | undefined {
  return ({ program, args }) => {
    const text = args.map(describeField).join(' ')
    return args.every(isFieldKnown) && wanted.test(text) && !unwanted?.test(text)
      ? [{ source: `$(${program})`, pattern: '*' }]
      : undefined
  }
}

export function pwdOutput({ state: { cwd } }: Invocation): ShellText | undefined {
  return cwd?.startsWith('/') ? [`${cwd}\n`] : undefined
}

/** The name of a new file is random, but where it is follows from the arguments. */
export function mktempOutput({ levels }: ProgramCall): ShellText | undefined {
  const { options, operands } = levels[0].parsed
  const [folder] = optionValues(options, 'p')
  const [template] = operands
  if ((folder && !isFieldKnown(folder)) || (template && !isFieldKnown(template))) return undefined
  const name = template ? describeField(template).replace(/X{3,}/g, '*') : 'tmp.*'
  const isBelow = folder !== undefined || template === undefined || hasOption(options, 't', 'tmpdir')
  const pattern = isBelow ? `${folder ? describeField(folder) : '/tmp'}/${name}` : name
  return [{ source: '$(mktemp)', pattern }]
}

export function echoOutput({ args, frame: { dialect } }: Invocation): ShellText | undefined {
  if (args.some(hasPattern)) return undefined
  let words = args
  let newline = true
  let escapes = dialect !== 'bash'
  while (words[0] && isFieldKnown(words[0])) {
    const option = describeField(words[0])
    if (!/^-[neE]+$/.test(option)) break
    // dash prints every option but `-n`.
    if (dialect === 'sh' && option !== '-n') break
    if (option.includes('n')) newline = false
    if (option.includes('e')) escapes = true
    if (option.includes('E')) escapes = false
    words = words.slice(1)
  }
  const text = joinWords(words)
  const hasBackslash = text.some((piece) => typeof piece === 'string' && piece.includes('\\'))
  if (escapes && hasBackslash) {
    const known = knownText(text)
    const decoded = known === undefined || /\\[c0"'?]/.test(known) ? undefined : decodeEscapes(known)
    return decoded === undefined ? undefined : [newline ? `${decoded}\n` : decoded]
  }
  return newline ? [...text, '\n'] : text
}

const conversion = /%(%|s|b|d|i|c|q)|%/g

/** `printf` with `%s`, `%b` and `%d`; undefined for anything finer. */
export function printfOutput({ args }: Invocation): ShellText | undefined {
  if (args.some(hasPattern)) return undefined
  const [formatField, ...given] = args[0] && describeField(args[0]) === '--' ? args.slice(1) : args
  const format = formatField && knownText(fieldText(formatField))
  if (format === undefined || format.startsWith('-')) return undefined
  const kinds = [...format.matchAll(conversion)].map(([, kind]) => kind)
  if (kinds.some((kind) => kind === undefined || kind === 'q' || kind === 'c')) return undefined
  const perRound = kinds.filter((kind) => kind !== '%').length
  const rounds = perRound === 0 ? 1 : Math.max(1, Math.ceil(given.length / perRound))
  if (rounds > 100) return undefined
  const out: ShellText[number][] = []
  for (let round = 0, next = 0; round < rounds; round++) {
    const pieces = format.split(/(%[%sbdi])/)
    for (const piece of pieces) {
      const text = /^%[sbdi]$/.test(piece) ? argumentText(piece, given[next++]) : literalText(piece)
      if (text === undefined) return undefined
      out.push(...text)
    }
  }
  return out
}

function literalText(piece: string): ShellText | undefined {
  if (piece === '%%') return ['%']
  if (/\\[c"'?]/.test(piece)) return undefined
  const decoded = decodeEscapes(piece)
  return decoded === undefined ? undefined : [decoded]
}

function argumentText(conversionText: string, field: WordField | undefined): ShellText | undefined {
  const text = field ? fieldText(field) : EMPTY_TEXT
  if (conversionText === '%s') return text
  const known = knownText(text)
  if (known === undefined) return unknownText('%')
  if (conversionText === '%b') return /\\[c0"'?]/.test(known) ? undefined : literalText(known)
  return /^-?\d{1,15}$/.test(known) ? [String(Number(known))] : known === '' ? ['0'] : undefined
}

export function catOutput({ args, frame, state }: Invocation): ShellText | undefined {
  if (args.some((arg) => /^-./.test(describeField(arg)) || hasPattern(arg))) return undefined
  const files = args.length === 0 ? [exactField('-')] : args
  const texts = files.map((file) => (describeField(file) === '-' ? frame.stdin : fileText(file, state)))
  return texts.some((text) => text === undefined) ? undefined : texts.flatMap((text) => text ?? [])
}
