import type { Caller } from '../access/caller.ts'
import type { ApprovalSteps } from '../approvals/approval-steps.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { holdForPerson } from '../approvals/hold-for-person.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { FindTouchedFolders } from '../hook-files/touched-folders.ts'
import type { DispatchRequest, RequestContext } from '../pipeline/call.ts'
import { decide } from '../pipeline/decide.ts'
import type { DispatchAnswer } from '../pipeline/dispatch-answer.ts'
import { type DeliverHook, runQueuedHook } from '../pipeline/hook-delivery.ts'
import { oncePerKey } from '../pipeline/once-per-key.ts'
import { createResolveCall } from '../pipeline/resolve-call.ts'
import { type RecordParts, withRecord } from '../pipeline/with-record.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import type { EventFolders } from '../stored-hooks/snapshots/event-folders.ts'
import type { Snapshots } from '../stored-hooks/snapshots/snapshots.ts'

/** Sends events of callers through the hooks of their tenant and records the results. */
export interface Dispatcher {
  /** Rejects with a coded error for input that is not an event; a gate without an answer blocks. */
  dispatch(caller: Caller, request: DispatchRequest, context?: RequestContext): Promise<DispatchAnswer>
}

export interface EventDispatcher extends Dispatcher {
  /** Runs one queued hook. */
  readonly deliver: DeliverHook
}

interface DispatcherParts extends RecordParts {
  readonly store: Pick<Store, 'findAnswer'>
  readonly snapshots: Pick<Snapshots, 'of'>
  readonly settings: Settings
  readonly approvals: Pick<Approvals, 'ask' | 'find'>
  readonly steps: ApprovalSteps
  readonly clock: Clock
  readonly eventFolders?: EventFolders
  readonly touchedFolders?: FindTouchedFolders
}

/**
 * The stages between a door and the engine, in the order in which a call meets them. A call that waits for a person is held
 * outside of its key: the answer that is kept is the question, so that a restart finds it again.
 */
export function createDispatcher(parts: DispatcherParts): EventDispatcher {
  const resolve = createResolveCall(parts)
  const recorded = withRecord(parts, decide(parts))
  const once = oncePerKey(parts, recorded)
  const held = holdForPerson({ ...parts, resolve }, once)
  return {
    async dispatch(caller, request, context = {}) {
      const call = resolve(caller, request, context)
      return held(call instanceof Promise ? await call : call)
    },
    // A hook that runs after the answer is only decided and recorded.
    deliver: withRecord(parts, runQueuedHook(parts)),
  }
}
