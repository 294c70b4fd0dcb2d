import type { MatchPart } from './matcher.ts'
import { requireTexts } from './wrong-type.ts'

/** Ids or names; an empty list stands for every agent. */
export function agentIdsPart(ids: readonly string[]): MatchPart | undefined {
  requireTexts(ids, 'agent_ids')
  if (ids.length === 0) return undefined
  const known = new Set(ids)
  const has = (id: string | undefined): boolean => id !== undefined && known.has(id)
  return {
    kind: 'agent_ids',
    source: ids.join(', '),
    when: ({ envelope }) => has(envelope.agentId) || has(envelope.agent),
  }
}
