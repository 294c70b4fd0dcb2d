import { type EngineCode, type ErrorCode, errorTable } from './error-table.ts'

export interface HookErrorOptions {
  /** What to do about it; the table's hint stands where none is given. */
  readonly hint?: string
  readonly cause?: unknown
  /** Where in the input the problem lies: a dot path, or an offset in a pattern. */
  readonly at?: string
}

/** The one error class: a code from the table, what happened and where, and what to do. */
export class HookError extends Error {
  override readonly name = 'HookError'
  readonly code: ErrorCode
  readonly hint: string
  readonly at: string | undefined

  constructor(code: EngineCode, message: string, options?: HookErrorOptions)
  /** A code of another table comes with its hint. */
  constructor(code: ErrorCode, message: string, options: HookErrorOptions & { readonly hint: string })
  constructor(code: ErrorCode, message: string, options: HookErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? errorTable[code as EngineCode]
    this.at = options.at
  }

  toJSON(): { code: ErrorCode; message: string; hint: string; at?: string } {
    const { code, message, hint, at } = this
    return at === undefined ? { code, message, hint } : { code, message, hint, at }
  }
}

/** The text of anything that can be thrown; never throws itself, whatever the value does when read. */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message) || String(thrown.name)
    if (typeof thrown === 'string') return thrown
    return String(thrown)
  } catch {
    return 'a value that cannot be read was thrown'
  }
}

/** Whether something that was thrown is ours; a hostile proxy throws even at that question. */
export function isHookError(thrown: unknown): thrown is HookError {
  try {
    return thrown instanceof HookError
  } catch {
    return false
  }
}
