const FIRST_MS = 1_000
const FACTOR = 4
const LONGEST_MS = 3_600_000

/** How long to wait after so many failed attempts. Half of it is chance, so that what failed together does not return together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1))
  return Math.round(full / 2 + (full / 2) * random())
}
