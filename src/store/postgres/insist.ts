import { gaveWay } from './failure.ts'

/** Each time somebody else has got on; more than a pool has connections. */
const TRIES = 20

/** Begins a transaction again that gave way to another. It is rolled back by then, so only rows may have been changed by it. */
export async function insist<T>(
  attempt: () => Promise<T>,
  mayHelp: (error: unknown) => boolean = gaveWay,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === TRIES || !mayHelp(error)) throw error
    }
  }
}
