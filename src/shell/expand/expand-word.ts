import type { Word, WordPart } from '../parse/shell-syntax.ts'
import { evaluateArithmetic } from './evaluate-arithmetic.ts'
import { expandBraces } from './expand-braces.ts'
import { type ExpansionScope, expandParameter } from './expand-parameter.ts'
import {
  compactText,
  EMPTY_TEXT,
  type FieldPiece,
  isList,
  knownText,
  type ShellText,
  type UnknownPiece,
  unknownField,
  unknownText,
  type VariableValue,
  type WordField,
  withoutTrailingNewlines,
} from './shell-text.ts'

/** The arguments that a word becomes: none, one or several. */
export function expandWord(word: Word, scope: ExpansionScope): readonly WordField[] {
  const [only] = word.parts
  if (only?.kind === 'text' && word.parts.length === 1 && (only.quoted || !/[{~=]/.test(only.text)))
    return [[{ value: only.text, quoted: only.quoted }]]
  const argument = sessionArgument(word, scope)
  if (argument !== undefined)
    return [
      [{ value: argument, quoted: only?.kind === 'parameter' && only.quoted && !/@/.test(argument.source) }],
    ]
  const words = scope.dialect === 'sh' ? [word.parts] : expandBraces(word.parts)
  if (!words) return [unknownField('{…}')]
  return words.flatMap((parts) => expandParts(expandTilde(parts, scope), scope))
}

/** The text of a word that is not split: an assignment, a heredoc, the target of a redirection. */
export function expandWithoutSplitting(word: Word, scope: ExpansionScope): ShellText {
  const [only] = word.parts
  if (word.parts.length === 1 && only?.kind === 'text' && only.quoted) return [only.text]
  const argument = sessionArgument(word, scope)
  if (argument !== undefined) return [argument]
  const pieces = expandTilde(word.parts, scope).flatMap((part): ShellText => {
    if (part.kind === 'text') return part.text === '' ? EMPTY_TEXT : [part.text]
    const value = expandPart(part, scope)
    return isList(value) ? joinList(value, scope) : value
  })
  return compactText(pieces)
}

/**
 * A word that is nothing but `$1` or `"$@"` of the session. The session has no arguments as a rule, so inside of a longer word
 * they count as nothing.
 */
function sessionArgument(
  { parts: [part, ...more] }: Word,
  { hasSessionArguments }: ExpansionScope,
): UnknownPiece | undefined {
  if (!hasSessionArguments || more.length > 0 || part?.kind !== 'parameter') return undefined
  const { name, operator, length, indirect } = part.parameter
  const isPlain = operator === undefined && !length && !indirect
  return isPlain && /^(?:[1-9]\d*|[@*])$/.test(name) ? { source: part.source, assumed: '' } : undefined
}

function joinList(list: readonly ShellText[], scope: ExpansionScope): ShellText {
  const separator = separators(scope)?.slice(0, 1) ?? ' '
  return list.flatMap((text, index) => (index === 0 ? text : [separator, ...text]))
}

/** The arguments made so far, and the one that is being made. */
interface FieldBuilder {
  readonly fields: WordField[]
  current: FieldPiece[]
}

function endField(builder: FieldBuilder): void {
  if (builder.current.some(({ value, quoted }) => quoted || value !== ''))
    builder.fields.push(builder.current)
  builder.current = []
}

function expandParts(parts: readonly WordPart[], scope: ExpansionScope): WordField[] {
  const builder: FieldBuilder = { fields: [], current: [] }
  for (const part of parts) {
    if (part.kind === 'text') builder.current.push({ value: part.text, quoted: part.quoted })
    else addPart(part, builder, scope)
  }
  endField(builder)
  return builder.fields
}

function addPart(
  part: Exclude<WordPart, { kind: 'text' }>,
  builder: FieldBuilder,
  scope: ExpansionScope,
): void {
  const quoted = part.kind === 'process' || (part.kind !== 'group-pattern' && part.quoted)
  const value = expandPart(part, scope)
  if (!quoted) {
    const splits = scope.dialect !== 'zsh' || part.kind !== 'parameter'
    for (const [index, item] of (isList(value) ? value : [value]).entries()) {
      if (index > 0) endField(builder)
      if (splits) addSplit(item, builder, scope)
      else
        builder.current.push(
          ...item.map((piece) => ({ value: piece, quoted: typeof piece === 'string' && piece !== '' })),
        )
    }
    return
  }
  const isEach = part.kind === 'parameter' && /^\$(@|\{@\})$|\[@\]\}$/.test(part.source)
  const items = isList(value) ? (isEach ? value : [joinList(value, scope)]) : [value]
  for (const [index, item] of items.entries()) {
    if (index > 0) endField(builder)
    // Of an unknown list it is not known how many arguments it becomes.
    builder.current.push(...item.map((value) => ({ value, quoted: typeof value === 'string' || !isEach })))
    // `"$@"` without arguments is no argument at all; every other empty value in quotes is one.
    if (item.length === 0 && (isList(value) || !isEach)) builder.current.push({ value: '', quoted: true })
  }
}

const DEFAULT_SEPARATORS = ' \t\n'

function separators(scope: ExpansionScope): string | undefined {
  const value = scope.lookUp('IFS')
  if (value === undefined) return DEFAULT_SEPARATORS
  return isList(value) ? undefined : knownText(value)
}

/** Adds a value that is not quoted: its separators end arguments. */
function addSplit(text: ShellText, builder: FieldBuilder, scope: ExpansionScope): void {
  const characters = separators(scope)
  for (const piece of text) {
    if (typeof piece !== 'string') builder.current.push({ value: piece, quoted: false })
    else if (characters === undefined) builder.current.push({ value: { source: piece }, quoted: false })
    else splitPiece(piece, characters, builder)
  }
}

function splitPiece(piece: string, characters: string, builder: FieldBuilder): void {
  let plain = ''
  for (const char of piece) {
    if (!characters.includes(char)) {
      plain += char
      continue
    }
    if (plain !== '') builder.current.push({ value: plain, quoted: false })
    // Each separator that is no blank ends an argument, even an empty one.
    else if (builder.current.length === 0 && !DEFAULT_SEPARATORS.includes(char))
      builder.current.push({ value: '', quoted: true })
    plain = ''
    endField(builder)
  }
  if (plain !== '') builder.current.push({ value: plain, quoted: false })
}

function expandPart(part: Exclude<WordPart, { kind: 'text' }>, scope: ExpansionScope): VariableValue {
  switch (part.kind) {
    case 'parameter':
      return expandParameter(part.parameter, part.source, scope)
    case 'substitution':
      return withoutTrailingNewlines(scope.runSubstitution(part.script))
    case 'arithmetic': {
      const text = knownText(expandWithoutSplitting(part.expression, scope))
      const value = text === undefined ? undefined : evaluateArithmetic(text, arithmeticScope(scope))
      return value === undefined ? unknownText(part.source) : [String(value)]
    }
    case 'process': {
      const file = scope.runProcess(part.script, part.output)
      return [{ source: part.source, file }]
    }
    case 'group-pattern':
      expandWithoutSplitting(part.inside, scope)
      return unknownText(part.source)
    case 'unknown':
      return unknownText(part.source)
  }
}

export function arithmeticScope(scope: ExpansionScope) {
  return {
    numberOf(name: string): number | undefined {
      const value = scope.lookUp(name)
      const text = isList(value) ? undefined : knownText(value)
      // The value is evaluated too, and a substitution in an array subscript runs.
      if (text !== undefined && /\$\(|`/.test(text)) scope.runPrompt(text)
      return text !== undefined && /^\s*-?(0|[1-9]\d{0,14})?\s*$/.test(text) ? Number(text) : undefined
    },
    assign: (name: string, value: number | undefined) =>
      scope.assign(name, value === undefined ? unknownText(`$${name}`) : [String(value)]),
  }
}

/** Replaces `~` at the start of a word. */
function expandTilde(parts: readonly WordPart[], { home, dialect }: ExpansionScope): readonly WordPart[] {
  const [first, ...rest] = parts
  if (first?.kind !== 'text' || first.quoted) return parts
  // zsh replaces `=name` by the path of the program.
  if (dialect === 'zsh' && /^=[\w./-]+$/.test(first.text) && rest.length === 0)
    return [{ kind: 'text', text: first.text.slice(1), quoted: false }]
  const tilde = /^~([^/]*)/.exec(first.text)
  if (!tilde || (tilde[0] === first.text && rest.length > 0)) return parts
  const [written, user] = tilde
  const after: WordPart = { kind: 'text', text: first.text.slice(written.length), quoted: false }
  const folder: WordPart =
    user === '' && home !== undefined
      ? { kind: 'text', text: home, quoted: true }
      : { kind: 'unknown', quoted: true, source: written }
  return [folder, ...(after.text === '' ? [] : [after]), ...rest]
}
