import type { ErrorCode } from './error-table.ts'

/** What a guard wants to know and arm. Keys carry the tenant, so guards of two tenants never meet. */
export type GuardRequest =
  | { readonly kind: 'cooldown'; readonly key: string; readonly windowMs: number }
  | { readonly kind: 'dedup'; readonly key: string; readonly windowMs: number }
  | { readonly kind: 'quota'; readonly key: string; readonly limit: number; readonly windowMs: number }
  | { readonly kind: 'budget'; readonly key: string; readonly cost: number; readonly limit: number }
  | { readonly kind: 'streak'; readonly key: string; readonly limit: number }
  | { readonly kind: 'end_streak'; readonly key: string }

/** Not now, and why. */
export interface Skip {
  readonly pass: false
  readonly code: ErrorCode
  readonly skip: string
}

export type Pass = { readonly pass: true } | Skip

/**
 * Where guards keep what they remember. `take` checks all requests and arms all of them in one step, or arms none:
 * read-then-write would let two nodes fire the same hook.
 */
export interface GuardState {
  take(requests: readonly GuardRequest[], now: number): readonly Pass[] | Promise<readonly Pass[]>
}
