import { type EngineCode, type ErrorCode, errorTable } from './error-table.ts'

/** Options of `HookError`. */
export interface HookErrorOptions {
  /** What to do about it; the hint of the code by default. */
  readonly hint?: string
  /** The error behind this one. */
  readonly cause?: unknown
  /** Where in the input the problem is: a dot path, or an offset in a pattern. */
  readonly at?: string
}

const BRAND = Symbol.for('hookhelm.error')

/** The only error class of Hookhelm. `docs/errors.md` lists the codes. */
export class HookError extends Error {
  /** A program may load the library twice; an error of either copy counts. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  override readonly name = 'HookError'
  /** Identifies the error; stable across versions. */
  readonly code: ErrorCode
  /** What to do about it. */
  readonly hint: string
  /** Where in the input the problem is: a dot path, or an offset in a pattern. */
  readonly at: string | undefined

  constructor(code: EngineCode, message: string, options?: HookErrorOptions)
  /** A code of the server needs a hint, because this table does not contain it. */
  constructor(code: ErrorCode, message: string, options: HookErrorOptions & { readonly hint: string })
  constructor(code: ErrorCode, message: string, options: HookErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? errorTable[code as EngineCode]
    this.at = options.at
  }

  get [BRAND](): true {
    return true
  }

  /** The error as data, without stack and cause. */
  toJSON(): { code: ErrorCode; message: string; hint: string; at?: string } {
    const { code, message, hint, at } = this
    return at === undefined ? { code, message, hint } : { code, message, hint, at }
  }
}

/** The text of any thrown value. Never throws, even if reading the value does. */
export function errorText(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message) || String(thrown.name)
    if (typeof thrown === 'string') return thrown
    return String(thrown)
  } catch {
    return 'a value that cannot be read was thrown'
  }
}

/** Whether a thrown value is a `HookError`. Never throws: `instanceof` on a hostile proxy does. */
export function isHookError(thrown: unknown): thrown is HookError {
  try {
    return thrown instanceof HookError
  } catch {
    return false
  }
}
