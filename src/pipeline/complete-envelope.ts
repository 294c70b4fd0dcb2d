import { LRUCache } from 'lru-cache'
import { agentId as idOf } from '../access/agent-id.ts'
import { agentName } from '../access/agent-names.ts'
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

interface EnvelopeOptions {
  readonly now: number
  /** An answer about this event counts, so the agent must not name another. */
  readonly isGate: boolean
  /** A run has proved that its agent sends the event, which may have another name than that of the token. */
  readonly isAgentProved: boolean
}

/** The caller's envelope, with the tenant and the time from the gateway, and the agent of a token that is bound to one. */
export function completeEnvelope(
  caller: Caller,
  given: Envelope,
  { now, isGate, isAgentProved }: EnvelopeOptions,
): Envelope & { readonly tenant: string } {
  for (const name of texts) {
    const value: unknown = given[name]
    if (value === undefined) continue
    if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT)
      throw serverError('gateway.request', `envelope.${name} must be text of 1 to ${MAX_TEXT} characters`)
  }
  const { tenant, member, agentId: bound } = caller
  const agentId = bound ?? knownId(tenant, given.agentId ?? given.agent)
  const isOther = (name: string | undefined) => name !== undefined && knownId(tenant, name) !== bound
  const namesOther =
    bound !== undefined && (isOther(given.agentId) || (!isAgentProved && isOther(given.agent)))
  if (namesOther && isGate)
    throw serverError('auth.scope', 'the token is bound to another agent than the envelope names')
  return {
    ...given,
    time: now,
    tenant,
    ...(member === undefined ? {} : { member }),
    ...(bound === undefined || (given.agent !== undefined && !namesOther)
      ? {}
      : { agent: agentName(tenant, bound) }),
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
