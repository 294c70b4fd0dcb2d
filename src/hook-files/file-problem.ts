import { HookError } from '../engine/core/errors/error.ts'
import type { ErrorCode } from '../engine/core/errors/error-table.ts'
import type { SchemaPath } from '../engine/core/schema/schema.ts'
import { lineAndColumn, type Source } from './read/source.ts'
import type { ValueProblem } from './read/value-problem.ts'

/** A problem in a file, with its position. */
export interface FileProblem {
  readonly file: string
  /** Counted from 1, as editors do. */
  readonly line: number
  readonly column: number
  /** JSON pointer of the wrong value; empty for the file as a whole. */
  readonly pointer: string
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** The JSON pointer of a path: `/hooks/0/event`. */
export function jsonPointer(path: SchemaPath): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** `file:line:column /pointer code: message (hint)`. Terminals make the position clickable. */
export function formatProblem({ file, line, column, pointer, code, message, hint }: FileProblem): string {
  const position = [`${file}:${line}:${column}`, pointer].filter((part) => part !== '').join(' ')
  return `${position} ${code}: ${message} (${hint})`
}

/** One error that lists all problems. It has the code of the first. */
export function problemsError(problems: readonly [FileProblem, ...FileProblem[]]): HookError {
  const [first] = problems
  return new HookError(first.code, problems.map(formatProblem).join('\n'), {
    hint: first.hint,
    at: `${first.file}:${first.line}:${first.column}`,
  })
}

/** A problem of the file as a whole. */
export function wholeFileProblem(file: string, { code, message, hint }: HookError): FileProblem {
  return { file, line: 1, column: 1, pointer: '', code, message, hint }
}

/** A text that cannot be parsed. The error carries the offset in `at`. */
export function syntaxProblem(
  text: string,
  file: string,
  { code, message, hint, at }: HookError,
): FileProblem {
  return { file, ...lineAndColumn(text, Number(at ?? 0)), pointer: '', code, message, hint }
}

/** Finds the line and column of a problem in the text that the value was parsed from. */
export function locateProblem(
  text: string,
  file: string,
  source: Source,
  { path, part, inside, error }: ValueProblem,
): FileProblem {
  const offset = inside === undefined ? source.offset(path, part) : source.inside(path, inside)
  const { code, message, hint } = error
  return { file, ...lineAndColumn(text, offset), pointer: jsonPointer(path), code, message, hint }
}
