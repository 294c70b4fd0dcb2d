import { LRUCache } from 'lru-cache'
import { agentId as idOf } from '../access/agent-id.ts'
import type { Caller } from '../access/caller.ts'
import type { Envelope } from '../engine/core/context.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'

const texts = [
  'id',
  'agent',
  'agentId',
  'parentAgent',
  'session',
  'run',
  'turn',
  'toolCall',
  'lane',
  'traceparent',
] as const
const MAX_TEXT = 500

// Cached: an agent's id is a hash of its name, and one agent sends thousands of events.
const ids = new LRUCache<string, string>({ max: 10_000 })

/** The caller's envelope, with the tenant and the event id from the gateway. */
export function completeEnvelope(
  caller: Caller,
  given: Envelope,
  now: number,
): Envelope & { readonly tenant: string } {
  for (const name of texts) {
    const value: unknown = given[name]
    if (value === undefined) continue
    if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT)
      throw serverError('gateway.request', `envelope.${name} must be text of 1 to ${MAX_TEXT} characters`)
  }
  const agentId = caller.agentId ?? knownId(caller.tenant, given.agentId ?? given.agent)
  return {
    ...given,
    time: now,
    tenant: caller.tenant,
    ...(agentId === undefined ? {} : { agentId }),
  }
}

function knownId(tenant: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  const key = `${tenant}|${name}`
  const known = ids.get(key)
  if (known !== undefined) return known
  const id = idOf(tenant, name)
  ids.set(key, id)
  return id
}
