import type { ApprovalWait } from '../approvals/approvals.ts'

/** How long a caller can wait for a person, and whether it can ask one itself. */
export interface CallerWait extends ApprovalWait {
  /** The caller can ask the person in front of it. */
  readonly canAsk: boolean
}

/** The answer must arrive before the caller gives up. */
const MARGIN_MS = 500
/** No question is open longer. A timer of Node that is set to more than 24 days fires at once. */
export const LONGEST_WAIT_MS = 7 * 86_400_000
/** No person answers faster. */
const SHORTEST_MS = 2_000

/** Undefined if the caller cannot wait long enough for a person. */
export function callerWait(
  withinMs: number | undefined,
  canAsk: boolean,
  onPending: ApprovalWait['onPending'] = () => {},
): { readonly wait?: CallerWait } {
  if (withinMs === undefined || !(withinMs >= SHORTEST_MS)) return {}
  return { wait: { withinMs: Math.min(withinMs, LONGEST_WAIT_MS) - MARGIN_MS, canAsk, onPending } }
}
