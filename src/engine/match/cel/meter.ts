/** What one evaluation may cost, and what it has cost so far. Evaluation is synchronous, so one meter runs at a time. */

/** Longer texts are cut; lists and maps show at most so many entries. */
export const MAX_TEXT = 65_536
export const MAX_ENTRIES = 1_000
/** About 40 ns each on a slow machine: 40 ms for the worst expression on the worst payload. */
const MAX_STEPS = 1_000_000
/** Entries times the size of what is done with each, summed over all comprehensions of an expression. */
const MAX_FOLD = 100_000

/** Thrown inside a CEL function; its text carries no payload and may be shown. */
export class Refusal extends Error {}

let steps = 0
let entries = MAX_ENTRIES
let cut = false

/** `cut` says that a text or list was shortened on the way, so that a `false` proves nothing. */
export function metered<T>(foldSize: number, run: () => T): { readonly value: T; readonly cut: boolean } {
  const outer = { steps, entries, cut }
  steps = 0
  cut = false
  entries = Math.min(MAX_ENTRIES, Math.floor(MAX_FOLD / Math.max(1, foldSize)))
  try {
    return { value: run(), cut }
  } finally {
    ;({ steps, entries, cut } = outer)
  }
}

export function spend(amount: number): void {
  steps += amount
  if (steps > MAX_STEPS) throw new Refusal(`more than ${MAX_STEPS} steps`)
}

export function maxEntries(): number {
  return entries
}

export function markCut(): void {
  cut = true
}
