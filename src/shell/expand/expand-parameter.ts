import type { ShellDialect } from '../../engine/core/shell-effects.ts'
import type { Parameter, Script, Word } from '../parse/shell-syntax.ts'
import { evaluateArithmetic } from './evaluate-arithmetic.ts'
import { patternToRegex } from './pattern-regex.ts'
import {
  describeText,
  EMPTY_TEXT,
  firstMany,
  isList,
  knownText,
  type ShellText,
  unknownText,
  type VariableValue,
} from './shell-text.ts'

/** What expansion reads and changes in the state of the shell. */
export interface ExpansionScope {
  readonly dialect: ShellDialect
  readonly home: string | undefined
  /** The value of a variable: a list for an array; undefined if the line does not set it and its value is unknown. */
  readonly lookUp: (name: string) => VariableValue | undefined
  readonly assign: (name: string, value: ShellText) => void
  readonly positional: readonly ShellText[]
  /** The positional parameters are those of the session. */
  readonly hasSessionArguments: boolean
  /** Evaluates the script of a substitution and returns what it prints. */
  readonly runSubstitution: (script: Script) => ShellText
  /** Evaluates the script of a process substitution and returns the file that stands for it. */
  readonly runProcess: (script: Script, output: boolean) => string
  /** Evaluates a text as a prompt: its substitutions run. */
  readonly runPrompt: (text: string) => void
  /** Expands a word inside of an expansion, without splitting. */
  readonly expandText: (word: Word, scope: ExpansionScope) => ShellText
}

/** The value of `${…}`: a list for `$@` and `${array[@]}`. */
export function expandParameter(parameter: Parameter, source: string, scope: ExpansionScope): VariableValue {
  const { operator, operand } = parameter
  const unknown = unknownText(source)
  // Substitutions inside run whatever becomes of the value.
  const word = operand ? scope.expandText(operand, scope) : EMPTY_TEXT
  const index = parameter.subscript ? scope.expandText(parameter.subscript, scope) : undefined
  if (operator === 'other' || operator === 'zsh' || operator === '~' || operator === '~~') return unknown
  const value = readValue(parameter, index, scope)
  // The value that zsh gives it has a NUL, which no argument can have.
  if (parameter.name === 'IFS' && scope.dialect === 'zsh') return unknown
  if (parameter.length) return lengthOf(value) ?? unknown
  if (operator === undefined) return value ?? unknownText(source, '')
  if (/^:?[-=?+]$/.test(operator)) return withDefault(parameter, value, { word, source, scope })
  const argument = knownText(word)
  if (isList(value))
    return operator === ':' && argument !== undefined
      ? (sliceList(value, argument, parameter) ?? unknown)
      : unknown
  const renamed = argument === undefined ? undefined : changePattern(value, operator, argument)
  if (renamed) return renamed
  const text = knownText(value)
  if (text === undefined || argument === undefined) return unknown
  if (operator === '@' && argument === 'P') scope.runPrompt(text)
  const changed = changeText(text, operator, argument)
  return changed === undefined ? unknown : [changed]
}

/** Parameters whose value is a number that only the shell knows. */
const numbers = /^(?:[$!?]|RANDOM|SRANDOM|BASHPID|PPID|UID|EUID|SECONDS|EPOCHSECONDS|LINENO)$/

/** `$#`, or a positional parameter by its number. */
function readPositional(name: string, positional: readonly ShellText[]): ShellText {
  const many = firstMany(positional)
  if (name === '#') return many === -1 ? [String(positional.length)] : [{ source: '$#', pattern: '*' }]
  const place = Number(name) - 1
  const text = positional[place] ?? EMPTY_TEXT
  return many === -1 || place <= many ? text : unknownText(`$${name}`, knownText(text))
}

function readValue(
  { name, indirect }: Parameter,
  index: ShellText | undefined,
  scope: ExpansionScope,
): VariableValue | undefined {
  if (index === undefined && (name === '@' || name === '*'))
    return scope.positional.length > 0 ? scope.positional : EMPTY_TEXT
  if (name === '#' && indirect) return scope.positional.at(-1)
  if (name === '#' || /^[1-9]\d*$/.test(name)) return readPositional(name, scope.positional)
  const value =
    scope.lookUp(name) ?? (numbers.test(name) ? [{ source: `$${name}`, pattern: '*' }] : undefined)
  if (indirect) return index === undefined && !isList(value) ? followName(value, scope) : undefined
  if (index === undefined) return isList(value) && scope.dialect === 'bash' ? value[0] : value
  const place = knownText(index)
  if (place === '@' || place === '*') return value
  if (place === undefined || !/^-?\d+$/.test(place)) return undefined
  if (value === undefined || (!isList(value) && knownText(value) === undefined)) return undefined
  const list = isList(value) ? value : [value]
  const number = Number(place)
  return (
    list?.at(number < 0 || scope.dialect !== 'zsh' ? number : number - 1) ?? (list ? EMPTY_TEXT : undefined)
  )
}

function followName(value: ShellText | undefined, scope: ExpansionScope) {
  const name = knownText(value)
  return name !== undefined && /^[A-Za-z_]\w*$/.test(name) ? scope.lookUp(name) : undefined
}

function lengthOf(value: VariableValue | undefined): ShellText | undefined {
  if (isList(value)) return [String(value.length)]
  const text = knownText(value)
  return text === undefined ? undefined : [String([...text].length)]
}

/** `${x:-word}` and its relatives. */
function withDefault(
  { name, operator = '' }: Parameter,
  value: VariableValue | undefined,
  { word, source, scope }: { word: ShellText; source: string; scope: ExpansionScope },
) {
  const kind = operator.at(-1)
  const text = isList(value) ? describeText(value.flat()) : knownText(value)
  const ifEmpty = kind === '+' ? EMPTY_TEXT : word
  const ifSet = kind === '+' ? word : value
  // A variable that the line does not set may come from outside.
  if (value === undefined || text === undefined || ifSet === undefined) {
    const assumed = value === undefined ? knownText(kind === '?' ? EMPTY_TEXT : ifEmpty) : undefined
    if (kind === '=') scope.assign(name, unknownText(source, assumed))
    return unknownText(source, assumed)
  }
  if (text !== '') return ifSet
  // Whether an empty variable counts as set depends on the colon, and on `unset`.
  if (!operator.startsWith(':')) return unknownText(source, knownText(ifEmpty))
  if (kind === '=') scope.assign(name, word)
  return ifEmpty
}

/** Applies `#`, `%`, `/`, `^`, `,` or a substring; undefined if the result is not certain. */
function changeText(text: string, operator: string, argument: string): string | undefined {
  if (operator === ':') return substring(text, argument)
  if (operator === '@') return transform(text, argument)
  if (operator === '^^' && argument === '') return text.toUpperCase()
  if (operator === ',,' && argument === '') return text.toLowerCase()
  if (operator === '^' && argument === '') return text.slice(0, 1).toUpperCase() + text.slice(1)
  if (operator === ',' && argument === '') return text.slice(0, 1).toLowerCase() + text.slice(1)
  // Patterns are tried at every position, so long texts stay unknown.
  if (text.length > (/[*?[]/.test(argument) ? 120 : 2_000)) return undefined
  if (operator.startsWith('#')) return removePrefix(text, argument, operator === '##')
  if (operator.startsWith('%')) return removeSuffix(text, argument, operator === '%%')
  return operator.startsWith('/') ? replacePattern(text, operator, argument) : undefined
}

/** `${x@U}` and its relatives. */
function transform(text: string, kind: string): string | undefined {
  if (kind === 'U') return text.toUpperCase()
  if (kind === 'L') return text.toLowerCase()
  return kind === 'u' ? text.slice(0, 1).toUpperCase() + text.slice(1) : undefined
}

/** The value of a loop over files is a pattern. Its extension or its folder can be removed from the pattern. */
function changePattern(
  value: ShellText | undefined,
  operator: string,
  argument: string,
): ShellText | undefined {
  const [only, ...more] = value ?? []
  if (typeof only !== 'object' || only.pattern === undefined || more.length > 0) return undefined
  if (operator.startsWith('%') && !/[*?[]/.test(argument) && only.pattern.endsWith(argument)) {
    const pattern = only.pattern.slice(0, only.pattern.length - argument.length)
    return [{ source: pattern, pattern }]
  }
  if (operator !== '##' || argument !== '*/') return undefined
  const pattern = only.pattern.split('/').at(-1) ?? '*'
  return [{ source: pattern, pattern }]
}

/** `${list[@]:1:2}`; the positional parameters start at 1. */
function sliceList(
  list: readonly ShellText[],
  argument: string,
  { name }: Parameter,
): readonly ShellText[] | undefined {
  const [start, length, ...more] = argument.split(':').map((part) => constant(part))
  if (start === undefined || start < 0 || more.length > 0 || (argument.includes(':') && length === undefined))
    return undefined
  if (length !== undefined && length < 0) return undefined
  const isPositional = name === '@' || name === '*'
  // `${@:0}` starts with the name of the shell.
  if (isPositional && start === 0) return undefined
  const from = isPositional ? start - 1 : start
  const items = list.slice(from, length === undefined ? undefined : from + length)
  return items.length === 0 ? undefined : items
}

function substring(text: string, argument: string): string | undefined {
  const [start, length, ...more] = argument.split(':').map((part) => constant(part))
  if (start === undefined || more.length > 0 || (argument.includes(':') && length === undefined))
    return undefined
  const characters = [...text]
  const from = start < 0 ? characters.length + start : start
  if (from < 0) return ''
  if (length === undefined) return characters.slice(from).join('')
  return characters.slice(from, length < 0 ? length : from + length).join('')
}

function constant(text: string): number | undefined {
  return evaluateArithmetic(text, { numberOf: () => undefined, assign: () => {} })
}

function removePrefix(text: string, pattern: string, longest: boolean): string | undefined {
  const regex = patternToRegex(pattern)
  if (!regex) return undefined
  const ends = Array.from({ length: text.length + 1 }, (_, index) => (longest ? text.length - index : index))
  const end = ends.find((length) => regex.test(text.slice(0, length)))
  return end === undefined ? text : text.slice(end)
}

function removeSuffix(text: string, pattern: string, longest: boolean): string | undefined {
  const regex = patternToRegex(pattern)
  if (!regex) return undefined
  const starts = Array.from({ length: text.length + 1 }, (_, index) =>
    longest ? index : text.length - index,
  )
  const start = starts.find((at) => regex.test(text.slice(at)))
  return start === undefined ? text : text.slice(0, start)
}

/** Replaces a text without pattern characters. Anything else is not certain. */
function replacePattern(text: string, operator: string, argument: string): string | undefined {
  const slash = argument.indexOf('/')
  const pattern = slash === -1 ? argument : argument.slice(0, slash)
  const replacement = slash === -1 ? '' : argument.slice(slash + 1)
  if (pattern === '' || /[*?[\\&@!+(]/.test(pattern + replacement)) return undefined
  if (operator === '//') return text.replaceAll(pattern, () => replacement)
  if (operator === '/#') return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text
  if (operator === '/%') return text.endsWith(pattern) ? text.slice(0, -pattern.length) + replacement : text
  return text.replace(pattern, () => replacement)
}
