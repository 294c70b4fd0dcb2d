/** The answers that hooks of other harnesses give, table by table. */
import { isRecord } from '../engine/core/check.ts'
import type { Kind } from '../engine/core/decision.ts'

export type Reply = Readonly<Record<string, unknown>>

/** What a reply says about the decision; `problem` when it says something nobody knows. */
export interface Voice {
  readonly kind: Kind
  readonly reason?: string
  readonly message?: string
}

/** Claude Code ends the run on `defer` rather than running the tool: a person has to look. */
const kinds: Readonly<Record<string, Kind>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  defer: 'ask',
  block: 'block',
  deny: 'block',
}

interface Source {
  readonly place: 'reply' | 'specific' | 'decision'
  readonly key: string
  readonly reasons: readonly string[]
  readonly messages?: readonly string[]
}

/** Where a decision may stand: GoClaw, Claude Code and Gemini; Cursor; Copilot; Claude Code's newer form. */
const sources: readonly Source[] = [
  { place: 'reply', key: 'decision', reasons: ['reason', 'stopReason'] },
  {
    place: 'reply',
    key: 'permission',
    reasons: ['user_message', 'agent_message'],
    messages: ['agent_message'],
  },
  { place: 'reply', key: 'permissionDecision', reasons: ['permissionDecisionReason', 'reason'] },
  { place: 'reply', key: 'behavior', reasons: ['message'] },
  { place: 'specific', key: 'permissionDecision', reasons: ['permissionDecisionReason'] },
  { place: 'decision', key: 'behavior', reasons: ['message'] },
]

/** Further keys that a reply of a known dialect may have; with one of them it is readable. */
const known = new Set([
  ...[
    'continue',
    'stopReason',
    'suppressOutput',
    'systemMessage',
    'terminalSequence',
    'async',
    'asyncTimeout',
  ],
  ...[
    'hookSpecificOutput',
    'additionalContext',
    'additional_context',
    'updatedInput',
    'updated_input',
    'grant',
  ],
  ...['modifiedArgs', 'modifiedResult', 'modifiedPrompt', 'updated_mcp_tool_output', 'updatedToolOutput'],
  ...sources.filter(({ place }) => place === 'reply').map(({ key }) => key),
])

export function isKnownDialect(reply: Reply): boolean {
  return Object.keys(reply).some((key) => known.has(key))
}

export function placesOf(reply: Reply): Readonly<Record<Source['place'], Reply>> {
  const specific = isRecord(reply.hookSpecificOutput) ? reply.hookSpecificOutput : {}
  return { reply, specific, decision: isRecord(specific.decision) ? specific.decision : {} }
}

/** Every voice in the reply, or the key of one that cannot be understood. */
export function voicesOf(reply: Reply): { readonly voices: readonly Voice[]; readonly problem?: string } {
  const places = placesOf(reply)
  const voices: Voice[] = []
  let problem: string | undefined
  for (const { place, key, reasons, messages = [] } of sources) {
    const value = places[place][key]
    if (value === undefined || value === null) continue
    const kind = typeof value === 'string' && Object.hasOwn(kinds, value) ? kinds[value] : undefined
    if (kind === undefined) problem ??= key
    else
      voices.push({
        kind,
        ...words(places[place], 'reason', reasons),
        ...words(places[place], 'message', messages),
      })
  }
  if (reply.continue === false)
    voices.push({ kind: 'block', ...words(reply, 'reason', ['stopReason', 'reason']) })
  else if (reply.continue !== undefined && reply.continue !== null && reply.continue !== true)
    problem ??= 'continue'
  return problem === undefined ? { voices } : { voices, problem }
}

function words(place: Reply, as: 'reason' | 'message', keys: readonly string[]): Partial<Voice> {
  const key = keys.find((name) => typeof place[name] === 'string' && place[name] !== '')
  return key === undefined ? {} : { [as]: String(place[key]) }
}
