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

/** The methods that cross the threads. `close` has its own way. */
export const remoteMethods: Readonly<Record<Exclude<keyof Remote, 'close'>, true>> = {
  ping: true,
  listHooks: true,
  findHook: true,
  createHook: true,
  updateHook: true,
  toggleHook: true,
  deleteHook: true,
  tripHook: true,
  loadDefinitions: true,
  definitionChanges: true,
  disableHandlerTypes: true,
  recordEvents: true,
  recordBytes: true,
  history: true,
  tail: true,
  errorDetail: true,
  findEvent: true,
  sessionEvents: true,
  listSessions: true,
  findAnswer: true,
  verifyAudit: true,
  prune: true,
  claimDeliveries: true,
  endDeliveries: true,
  extendLeases: true,
  listDeliveries: true,
  replayDeliveries: true,
  nextDelivery: true,
  takeGuards: true,
  readBudget: true,
  spendBudget: true,
  setBudget: true,
  createTenant: true,
  listTenants: true,
  findTenant: true,
  deleteTenant: true,
  createToken: true,
  findToken: true,
  listTokens: true,
  deleteToken: true,
  putSecret: true,
  listSecrets: true,
  deleteSecret: true,
  putProvider: true,
  listProviders: true,
  deleteProvider: true,
  readSettings: true,
  writeSettings: true,
  addKeyUses: true,
  holdsSealed: true,
  sealedUnderOtherKeys: true,
  resealCells: true,
}
