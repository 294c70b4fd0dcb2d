import type { GatewayParts } from '../parts.ts'
import { statusLines } from '../status.ts'

type Parts = Pick<GatewayParts, 'status' | 'defaultTenant' | 'clock'>

/** Anybody may ask, so one answer serves everybody who asks within a moment. */
const KEPT_MS = 500

export function createReadiness({ status, defaultTenant, clock }: Parts): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined
  let askedAt = 0
  return () => {
    if (answer === undefined || clock.elapsed() - askedAt >= KEPT_MS) {
      askedAt = clock.elapsed()
      answer = statusLines(status, defaultTenant).then(
        (lines) => lines.every(({ state }) => state !== 'bad'),
        () => false,
      )
    }
    return answer
  }
}
