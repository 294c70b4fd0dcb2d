import { HookError } from '../engine/core/error.ts'
import type { ErrorCode } from '../engine/core/error-table.ts'

/** One thing that is wrong in a file, and where. */
export interface FileProblem {
  readonly file: string
  /** From 1, as editors count. */
  readonly line: number
  readonly column: number
  /** JSON pointer of the value that is wrong; empty for the file as a whole. */
  readonly pointer: string
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

/** Where in a value: keys and positions from the root. */
export type Path = readonly (string | number)[]

export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** `file:line:column /pointer code: message (hint)`, as terminals make it clickable. */
export function problemLine({ file, line, column, pointer, code, message, hint }: FileProblem): string {
  const where = [`${file}:${line}:${column}`, pointer].filter((part) => part !== '').join(' ')
  return `${where} ${code}: ${message} (${hint})`
}

/** All problems as the one error that keeps a program from starting; its code is that of the first. */
export function refusal(problems: readonly [FileProblem, ...FileProblem[]]): HookError {
  const [first] = problems
  return new HookError(first.code, problems.map(problemLine).join('\n'), {
    hint: first.hint,
    at: `${first.file}:${first.line}:${first.column}`,
  })
}

/** A problem of the file as a whole. */
export function wholeFile(file: string, error: HookError): FileProblem {
  const { code, message, hint } = error
  return { file, line: 1, column: 1, pointer: '', code, message, hint }
}
