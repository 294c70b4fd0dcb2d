import { HookError, isHookError } from '../../engine/core/error.ts'
import type { ErrorCode } from '../../engine/core/error-table.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Keyring } from '../../safe/secret.ts'
import type { SqlStore } from '../sql/sql-store.ts'

/** What the worker answers, beyond the methods of the store. */
export type Remote = Omit<SqlStore, 'flush'> & {
  ping(): Promise<void>
  close(): Promise<void>
}

export interface WorkerStart {
  readonly file: string
  readonly keyring: Keyring
}

export interface Call {
  readonly id: number
  readonly method: keyof Remote
  readonly args: readonly unknown[]
}

/** An error as it crosses the threads. */
export interface SentError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError }

/** What a worker says: that it is ready or why not, an answer, something for the log. */
export type Said =
  | { readonly kind: 'ready'; readonly error?: SentError }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

export function sendError(thrown: unknown): SentError {
  const known = isHookError(thrown)
    ? thrown
    : serverError('store.unavailable', thrown instanceof Error ? thrown.message : String(thrown))
  return { code: known.code, message: known.message, hint: known.hint }
}

export function receiveError({ code, message, hint }: SentError): HookError {
  return new HookError(code, message, { hint })
}
