import { HookError, isHookError } from '../../engine/core/errors/error.ts'
import type { ErrorCode } from '../../engine/core/errors/error-table.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Keyring } from '../../safe/secrets/secret.ts'

export interface WorkerStart {
  readonly file: string
  readonly keyring: Keyring
}

export interface WorkerCall {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
  /** The steady time of the caller. */
  readonly sentAt: number
  /** The arguments contain numbers that are packed. */
  readonly packed?: true
}

/** An error that can be posted to another thread. */
export interface SerializedError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

export type WorkerAnswer =
  | { readonly id: number; readonly value: unknown; readonly packed?: true }
  | { readonly id: number; readonly error: SerializedError }

/** What the worker posts: that it is ready, with the names of its operations (or why not), an answer, or a log line. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly operations: readonly string[] }
  | { readonly kind: 'ready'; readonly error: SerializedError }
  | { readonly kind: 'answer'; readonly answer: WorkerAnswer }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

export function serializeError(thrown: unknown): SerializedError {
  const known = isHookError(thrown)
    ? thrown
    : serverError('store.unavailable', thrown instanceof Error ? thrown.message : String(thrown))
  return { code: known.code, message: known.message, hint: known.hint }
}

export function deserializeError({ code, message, hint }: SerializedError): HookError {
  return new HookError(code, message, { hint })
}
