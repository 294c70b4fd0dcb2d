import type { Certainty, ShellArgument } from '../../engine/core/shell-effects.ts'
import { UNKNOWN_CHARACTER } from '../parse/cursor.ts'

/** A value that is known only when the line runs. */
export interface UnknownPiece {
  /** As it is written in the line. */
  readonly source: string
  /** The value if nothing outside of the line sets the variable. */
  readonly assumed?: string
  /** The pattern that the value fits, if it is the name of a file. */
  readonly pattern?: string
  /** The file that a process substitution stands for. */
  readonly file?: string
  /** The newlines at the end of the file are not part of the text: `$(cat file)`. */
  readonly isTrimmed?: true
  /** The argument may be none or several. */
  readonly isMany?: true
}

/** A text of which parts may be unknown. */
export type ShellText = readonly (string | UnknownPiece)[]

/** A list for an array. */
export type VariableValue = ShellText | readonly ShellText[]

export function isList(value: VariableValue | undefined): value is readonly ShellText[] {
  return Array.isArray(value) && Array.isArray(value[0])
}

/** A piece of an argument. What is quoted is neither split nor used as a pattern. */
export interface FieldPiece {
  readonly value: string | UnknownPiece
  readonly quoted: boolean
}

/** One argument, before it is reported. */
export type WordField = readonly FieldPiece[]

export const EMPTY_TEXT: ShellText = []

export function unknownText(source: string, assumed?: string): ShellText {
  return [assumed === undefined ? { source } : { source, assumed }]
}

/** The text if all of it is known. */
export function knownText(text: ShellText | undefined): string | undefined {
  if (text === undefined) return undefined
  let known = ''
  for (const piece of text) {
    if (typeof piece !== 'string') return undefined
    known += piece
  }
  return known
}

/** The text as people read it: unknown parts as they are written in the line. */
export function describeText(text: ShellText): string {
  return text.map((piece) => (typeof piece === 'string' ? piece : piece.source)).join('')
}

/** The text as code: a character stands for each unknown part. */
export function textAsCode(text: ShellText): string {
  return text.map((piece) => (typeof piece === 'string' ? piece : UNKNOWN_CHARACTER)).join('')
}

const MAX_TEXT = 65_536

/** The text with its known parts joined; unknown if it is too long to keep. */
export function compactText(text: ShellText): ShellText {
  if (text.length < 2 && (typeof text[0] !== 'string' || text[0].length <= MAX_TEXT)) return text
  const joined: (string | UnknownPiece)[] = []
  let length = 0
  for (const piece of text) {
    const last = joined.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece
    else joined.push(piece)
    length += typeof piece === 'string' ? piece.length : 256
    if (length > MAX_TEXT) return unknownText('…')
  }
  return joined
}

export function isFieldKnown(field: WordField): boolean {
  return field.every(({ value }) => typeof value === 'string')
}

export function fieldText(field: WordField): ShellText {
  return field.map(({ value }) => value)
}

/** The file that a process substitution stands for, if the argument is one. */
export function substitutedFile([piece]: WordField): string | undefined {
  return typeof piece?.value === 'object' ? piece.value.file : undefined
}

/** The positional parameters that these arguments become. */
export function positionalTexts(args: readonly WordField[]): readonly ShellText[] {
  return args.map((field) => {
    if (hasPattern(field))
      return [{ source: describeField(field), pattern: describePath(field), isMany: true }]
    return field.map(({ value, quoted }) =>
      typeof value === 'string' || quoted ? value : ({ ...value, isMany: true } as const),
    )
  })
}

/** The place of the first positional parameter that may be none or several: the numbers of those behind it are not known. */
export function firstMany(positional: readonly ShellText[]): number {
  return positional.findIndex((text) => text.some((piece) => typeof piece !== 'string' && piece.isMany))
}

/** The argument as people read it. */
export function describeField(field: WordField): string {
  return describeText(fieldText(field))
}

export function exactField(text: string): WordField {
  return [{ value: text, quoted: true }]
}

/** An argument that may become several. */
export function unknownField(source: string): WordField {
  return [{ value: { source }, quoted: false }]
}

const globCharacters = /[*?]|\[[^\]]*\]/

export function hasPattern(field: WordField): boolean {
  return field.some(({ value, quoted }) => !quoted && typeof value === 'string' && globCharacters.test(value))
}

export function fieldCertainty(field: WordField): Certainty {
  if (field.some(({ value }) => typeof value !== 'string' && value.pattern === undefined)) return 'unknown'
  return hasPattern(field) || !isFieldKnown(field) ? 'pattern' : 'exact'
}

/** The argument as a path: a part that is not known, but fits a pattern, is that pattern. */
export function describePath(field: WordField): string {
  return field
    .map(({ value }) => (typeof value === 'string' ? value : (value.pattern ?? value.source)))
    .join('')
}

export function reportField(field: WordField): ShellArgument {
  // A pattern without a folder, such as the one of `$$`, says nothing about an argument.
  const isVague = field.some(
    ({ value }) => typeof value !== 'string' && value.pattern === '*' && value.source !== '*',
  )
  const certainty = isVague ? 'unknown' : fieldCertainty(field)
  const isSplit = field.some(({ value, quoted }) => typeof value !== 'string' && (!quoted || value.isMany))
  const argument = { text: isVague ? describeField(field) : describePath(field), certainty }
  return isSplit || hasPattern(field) ? { ...argument, many: true } : argument
}

/** What `$(…)` leaves of the output of a command. */
export function withoutTrailingNewlines(text: ShellText): ShellText {
  const last = text.at(-1)
  if (typeof last === 'object' && last.file !== undefined)
    return [...text.slice(0, -1), { ...last, isTrimmed: true }]
  if (typeof last !== 'string') return text
  const trimmed = last.replace(/\n+$/, '')
  if (trimmed !== '') return [...text.slice(0, -1), trimmed]
  return withoutTrailingNewlines(text.slice(0, -1))
}
