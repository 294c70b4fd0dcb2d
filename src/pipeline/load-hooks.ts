import { errorText, isHookError } from '../engine/core/errors/error.ts'
import type { ErrorCode } from '../engine/core/errors/error-table.ts'
import type { Log } from '../engine/core/records/sink.ts'
import type { ReadEffects } from '../engine/match/effects/call-effects.ts'
import type { FindTouchedFolders } from '../hook-files/touched-folders.ts'
import type { EventFolders } from '../stored-hooks/snapshots/event-folders.ts'
import type { AgentFolders, Snapshot } from '../stored-hooks/snapshots/snapshot.ts'
import { isHookFileError, type Snapshots } from '../stored-hooks/snapshots/snapshots.ts'
import type { Call } from './call.ts'

export interface LoadedHooks {
  readonly snapshot: Snapshot
  readonly folder: AgentFolders | undefined
  /** What was read about the call to find its folders. */
  readonly effects?: ReadEffects | undefined
}

/** Why the hooks of an event are unknown. */
export interface LoadFailure {
  readonly reason: string
  readonly code: ErrorCode
  /** There is no such tenant, so there is no history to record the event in. */
  readonly isTenantGone: boolean
  readonly thrown: unknown
}

export type HooksOfCall = LoadedHooks | LoadFailure

interface LoadHooksParts {
  readonly snapshots: Pick<Snapshots, 'of'>
  /** The folders whose hook files apply to an event of a door that names none. */
  readonly eventFolders?: EventFolders
  /** The other folders with hook files that a call touches. */
  readonly touchedFolders?: FindTouchedFolders
  readonly log: Log
}

/** The hooks for the folder of an event, or why they cannot be loaded. No promise if they are loaded already. */
export function loadHooks(
  { snapshots, eventFolders, touchedFolders, log }: LoadHooksParts,
  { caller, context, event, payload, envelope }: Omit<Call, 'hooks'>,
): HooksOfCall | Promise<HooksOfCall> {
  const { tenant } = envelope
  const failed = (thrown: unknown) => {
    log('security.hook.resolve_error', { tenant, event, error: errorText(thrown) })
    return failureOf(thrown)
  }
  const loadIn = (own: AgentFolders | undefined): HooksOfCall | Promise<HooksOfCall> => {
    const isKnown = own === undefined || own.touched !== undefined
    const { touched, effects } = (isKnown ? undefined : touchedFolders?.(payload, envelope, own)) ?? {}
    const folder = own === undefined || !touched?.length ? own : { ...own, touched }
    const snapshot = snapshots.of(tenant, folder)
    return snapshot instanceof Promise
      ? snapshot.then((loaded) => ({ snapshot: loaded, folder, effects }))
      : { snapshot, folder, effects }
  }
  try {
    const folder = context.folder ?? eventFolders?.(caller, envelope, payload)
    const loaded = folder instanceof Promise ? folder.then(loadIn) : loadIn(folder)
    return loaded instanceof Promise ? loaded.catch(failed) : loaded
  } catch (thrown) {
    return failed(thrown)
  }
}

function failureOf(thrown: unknown): LoadFailure {
  if (isHookFileError(thrown))
    return { reason: thrown.message, code: thrown.code, isTenantGone: false, thrown }
  const reason = 'the hooks of this tenant cannot be loaded'
  const isTenantGone = isHookError(thrown) && thrown.code === 'gateway.not_found'
  return { reason, code: 'store.unavailable', isTenantGone, thrown }
}
