import { HookError } from '../../core/errors/error.ts'

// Limits the cost of an evaluation. Evaluation is synchronous, so module state holds the cost of the current one.

/** Longer texts are truncated. */
export const MAX_TEXT = 65_536
/** Longer lists and maps are truncated. */
const MAX_ENTRIES = 1_000
/** A step takes about 40 ns on a slow machine, so the worst evaluation takes 40 ms. */
const MAX_STEPS = 1_000_000
/** Entries times the nodes that are evaluated for each, over all comprehensions of an expression. */
const MAX_COMPREHENSION_STEPS = 100_000

let steps = 0
let entries = MAX_ENTRIES
/** A text or list was truncated, so `false` is not certain. */
let truncated = false
/** Why the evaluation was refused; contains nothing of the payload. */
let refused: string | undefined

/** Runs an evaluation with fresh limits. */
export function runMetered<T>(comprehensionSize: number, run: () => T) {
  const outer = { steps, entries, truncated, refused }
  steps = 0
  truncated = false
  refused = undefined
  entries = Math.min(MAX_ENTRIES, Math.floor(MAX_COMPREHENSION_STEPS / Math.max(1, comprehensionSize)))
  try {
    const value = run()
    return { value, truncated, refused }
  } finally {
    ;({ steps, entries, truncated, refused } = outer)
  }
}

/** Adds to the cost of the evaluation; throws above the limit. */
export function spendSteps(amount: number): void {
  steps += amount
  if (steps > MAX_STEPS) refuseEvaluation(`more than ${MAX_STEPS} steps`)
}

/** Fails the evaluation. Keeps the reason, because the library wraps and merges the errors of functions. */
export function refuseEvaluation(why: string): never {
  refused ??= why
  throw new HookError('match.cel_eval', why)
}

/** How many entries of a list or map the evaluation may read. */
export function maxEntries(): number {
  return entries
}

/** Records that the evaluation did not see the whole value. */
export function markTruncated(): void {
  truncated = true
}
