import type { Log } from '../engine/core/records/sink.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { Admission } from './admission.ts'
import type { AdmittedCaller, Tokens } from './tokens.ts'

/** Ends connections that stay open after their token is revoked or has expired. */
export interface RevocationWatch {
  /** Calls `end` once when the caller's right is gone; stop watching with the returned function. */
  add(admitted: AdmittedCaller, end: () => void): () => void
  stop(): void
}

interface RevocationWatchOptions {
  readonly admission: Pick<Admission, 'isStillValid'>
  readonly tokens: Pick<Tokens, 'onForget'>
  readonly clock: Clock
  readonly log: Log
}

/** With the age that `isStillValid` tolerates, a revoked token ends its connections within 5 s. */
const CHECK_MS = 2_000

export function createRevocationWatch({
  admission,
  tokens,
  clock,
  log,
}: RevocationWatchOptions): RevocationWatch {
  const watched = new Map<() => void, AdmittedCaller>()

  async function check(end: () => void, admitted: AdmittedCaller): Promise<void> {
    // If the store fails, the connection stays open: its next request fails by itself.
    const isValid = await admission.isStillValid(admitted).catch(() => true)
    if (isValid || !watched.delete(end)) return
    log('security.token_revoked', { token: admitted.caller.name })
    end()
  }

  const checkAll = () => {
    for (const [end, admitted] of watched) void check(end, admitted)
  }
  const ticker = clock.every(CHECK_MS, checkAll)
  ticker.hold(false)
  // On this node a token ends at once.
  const unlisten = tokens.onForget(checkAll)
  return {
    add(admitted, end) {
      watched.set(end, admitted)
      return () => watched.delete(end)
    },
    stop() {
      ticker.stop()
      unlisten()
    },
  }
}
