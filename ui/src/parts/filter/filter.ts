import type { Methods, Subscriptions } from '../../../../src/client/index.ts'
import { codingAgentNames } from '../../../../src/engine/core/coding-agents.ts'
import { decisionKinds } from '../../../../src/engine/core/decision.ts'

export type EventSummary = Subscriptions['events.tail']['item']
export type EventFilter = Methods['events.list']['params']

/** One word of a filter: `field:value`, `ms>200`, or plain text. */
export interface FilterTerm {
  readonly field: string
  readonly value: string
  /** The word as typed. */
  readonly typed: string
  /** Why the word cannot be used. */
  readonly problem?: string
}

const WORD = /(?:[^\s"]+:)?"[^"]*"?|\S+/g

/** What may stand before the colon, with what may follow it, for completion and help. */
export const filterFields: Readonly<
  Record<string, { readonly about: string; readonly values: readonly string[] }>
> = {
  decision: { about: 'the decision', values: decisionKinds.toReversed() },
  is: { about: 'a mark of the event', values: ['rewritten', 'opened', 'failed'] },
  agent: { about: 'the coding agent', values: codingAgentNames },
  tool: { about: 'the tool', values: ['Bash', 'Write', 'Edit', 'Read', 'WebFetch', 'Agent'] },
  event: {
    about: 'the event',
    values: ['pre_tool_use', 'post_tool_use', 'user_prompt_submit', 'session_start', 'session_end', 'stop'],
  },
  hook: { about: 'the id of the hook that decided', values: [] },
  session: { about: 'the id of the session', values: [] },
}

export function parseFilter(text: string): readonly FilterTerm[] {
  return [...text.matchAll(WORD)].map(([typed]) => readTerm(typed))
}

function readTerm(typed: string): FilterTerm {
  const slow = /^ms>(\d+(?:\.\d+)?)$/.exec(typed)
  if (slow !== null) return { field: 'ms', value: slow[1] ?? '', typed }
  const colon = typed.startsWith('"') ? -1 : typed.indexOf(':')
  if (colon <= 0) return { field: 'text', value: typed.replaceAll('"', ''), typed }
  const field = typed.slice(0, colon)
  const value = typed.slice(colon + 1).replaceAll('"', '')
  const known = filterFields[field]
  if (known === undefined)
    return {
      field,
      value,
      typed,
      problem: `there is no field ${field}: use ${Object.keys(filterFields).join(', ')} or "text"`,
    }
  if ((field === 'decision' || field === 'is') && !known.values.includes(value))
    return { field, value, typed, problem: `${field} is one of ${known.values.join(', ')}` }
  return { field, value, typed }
}

/** The parameters of `events.list` that a filter stands for. A term with a problem is left out. */
export function filterParams(terms: readonly FilterTerm[]): EventFilter {
  const params: Record<string, unknown> = {}
  const texts: string[] = []
  for (const { field, value, problem } of terms) {
    if (problem !== undefined) continue
    if (field === 'text') texts.push(value)
    else if (field === 'ms') params.minMs = Number(value)
    else if (field === 'decision') params.kind = value
    else if (field === 'is') params[value] = true
    else params[field] = value
  }
  if (texts.length > 0) params.text = texts.join(' ')
  return params
}

/** Whether an event that arrives live passes the filter: the same answer as `events.list` gives. */
export function passesFilter(event: EventSummary, filter: EventFilter): boolean {
  const { kind, agent, tool, event: name, hook, session, text, minMs, rewritten, opened, failed } = filter
  return (
    (kind === undefined || event.kind === kind) &&
    (agent === undefined || event.agent === agent || event.agent_id === agent) &&
    (tool === undefined || event.tool === tool) &&
    (name === undefined || event.event === name) &&
    (hook === undefined || event.by_hook === hook) &&
    (session === undefined || event.session_id === session) &&
    (text === undefined || (event.what ?? '').toLowerCase().includes(text.toLowerCase())) &&
    (minMs === undefined || event.duration_ms >= minMs) &&
    (rewritten === undefined || event.rewritten === rewritten) &&
    (opened === undefined || (event.opened !== null) === opened) &&
    (failed === undefined || event.failed > 0 === failed)
  )
}

/** A command with the flags that a filter stands for. */
export function commandOf(command: string, params: EventFilter): string {
  const flags = Object.entries(params).map(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    const text = String(value)
    return value === true
      ? flag
      : `${flag} ${/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`}`
  })
  return [command, ...flags].join(' ')
}
