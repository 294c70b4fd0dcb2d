import type { ErrorCode } from './errors/error-table.ts'

/** A request of a guard to check and update its state. Keys contain the tenant, so tenants never share state. */
export type GuardRequest =
  | { readonly kind: 'cooldown'; readonly key: string; readonly windowMs: number }
  | { readonly kind: 'dedup'; readonly key: string; readonly windowMs: number }
  | { readonly kind: 'quota'; readonly key: string; readonly limit: number; readonly windowMs: number }
  | { readonly kind: 'budget'; readonly key: string; readonly cost: number; readonly limit: number }
  | { readonly kind: 'streak'; readonly key: string; readonly limit: number }
  | { readonly kind: 'end_streak'; readonly key: string }

/** The hook must not fire now. */
export interface Skip {
  readonly pass: false
  readonly code: ErrorCode
  /** Why the hook is skipped. */
  readonly skip: string
}

/** Whether a hook may fire now. */
export type Pass = { readonly pass: true } | Skip

/** Stores the state of guards. `memoryGuardState` is the default. */
export interface GuardState {
  /**
   * Checks all requests and, if all pass, records all of them in one atomic step. Returns one result per request. With
   * separate reads and writes two nodes could fire the same hook. `now` is in milliseconds since 1970 and never goes back in
   * this process; state that processes share must use a clock that they share.
   */
  take(requests: readonly GuardRequest[], now: number): readonly Pass[] | Promise<readonly Pass[]>
}
