import { HookError } from '../../core/error.ts'

/** What one evaluation may cost, and what it has cost so far. Evaluation is synchronous, so one meter runs at a time. */

/** Longer texts are cut; lists and maps show at most so many entries. */
export const MAX_TEXT = 65_536
const MAX_ENTRIES = 1_000
/** About 40 ns each on a slow machine: 40 ms for the worst expression on the worst payload. */
const MAX_STEPS = 1_000_000
/** Entries times the size of what is done with each, summed over all comprehensions of an expression. */
const MAX_FOLD = 100_000

export interface Reading<T> {
  readonly value: T
  /** A text or list was shortened on the way, so that a `false` proves nothing. */
  readonly cut: boolean
  /** Why the first call was refused; it carries no payload and may be shown. */
  readonly refused: string | undefined
}

let steps = 0
let entries = MAX_ENTRIES
let cut = false
let refused: string | undefined

export function metered<T>(foldSize: number, run: () => T): Reading<T> {
  const outer = { steps, entries, cut, refused }
  steps = 0
  cut = false
  refused = undefined
  entries = Math.min(MAX_ENTRIES, Math.floor(MAX_FOLD / Math.max(1, foldSize)))
  try {
    const value = run()
    return { value, cut, refused }
  } finally {
    ;({ steps, entries, cut, refused } = outer)
  }
}

export function spend(amount: number): void {
  steps += amount
  if (steps > MAX_STEPS) refuse(`more than ${MAX_STEPS} steps`)
}

/** The library wraps and merges what a function throws, so the reason is kept here. */
export function refuse(why: string): never {
  refused ??= why
  throw new HookError('match.cel_eval', why)
}

export function maxEntries(): number {
  return entries
}

export function markCut(): void {
  cut = true
}
