import type { Caller } from '../access/caller.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { createNameResolver } from '../engine/events/event-names.ts'
import { timeUuid } from '../safe/time-uuid.ts'
import type { Call, DispatchRequest, EventName, RequestContext } from './call.ts'
import { completeEnvelope } from './complete-envelope.ts'
import { type HooksOfCall, loadHooks } from './load-hooks.ts'
import { requestHash } from './once-per-key.ts'

const resolveName = createNameResolver(catalogue)

export type ResolveCall = (
  caller: Caller,
  request: DispatchRequest,
  context: RequestContext,
) => Call | Promise<Call>

/** Finds out once what the stages need: the event, its envelope and key, and the hooks of its folders. */
export function createResolveCall(
  parts: Parameters<typeof loadHooks>[0] & { readonly clock: Clock },
): ResolveCall {
  return (caller, request, context) => {
    const event = resolveName(request.event) as EventName
    const { payload, idempotency_key } = request
    const now = parts.clock.now()
    const row = catalogue[event]
    const given = completeEnvelope(caller, request.envelope ?? {}, {
      now: context.time ?? now,
      // What the client has decided is recorded in any case.
      isGate: row.mode === 'gate' && context.decided === undefined,
      isAgentProved: context.isAgentProved === true,
    })
    const key = idempotency_key ?? given.id
    const hash = key === undefined ? undefined : requestHash(event, payload, given)
    // Two events with the same id need two records, so the hash becomes part of the id.
    const id = given.id === undefined ? timeUuid(now) : `${given.id}:${hash?.slice(0, 12)}`
    const call = {
      ...{ caller, request, context, event, row, payload },
      envelope: { ...given, id },
      key:
        key === undefined || hash === undefined
          ? undefined
          : {
              ...{ tenant: caller.tenant, key, hash },
              isDurable: idempotency_key !== undefined || row.mode === 'observe',
            },
    }
    if (context.decided !== undefined) return { ...call, hooks: undefined }
    const hooks = loadHooks(parts, call)
    return hooks instanceof Promise ? hooks.then((loaded) => withHooks(call, loaded)) : withHooks(call, hooks)
  }
}

/** Looking for the process takes time, so it is done if hooks may ask for it. A repeated call may come from another one. */
function withHooks(call: Omit<Call, 'hooks'>, hooks: HooksOfCall): Call {
  const { process } = call.context
  if (process === undefined || 'reason' in hooks || !hooks.snapshot.hooks.has(call.event))
    return { ...call, hooks }
  return { ...call, envelope: { ...call.envelope, ...process() }, hooks }
}
