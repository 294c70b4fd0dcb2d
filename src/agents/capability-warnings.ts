import type { HookConditions } from '../engine/core/hook.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { type Catalogue, catalogue } from '../engine/events/catalogue.ts'
import { createNameResolver } from '../engine/events/event-names.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { compileMatcher } from '../engine/match/matcher.ts'
import { answerInFiles, textNote } from '../hook-files/answer-mode.ts'
import type { AgentAdapter, Effect, NativeEvent } from './agent-adapter.ts'

/** An agent and those of its events that reach Hookhelm. */
export interface ConnectedEvents {
  readonly agent: AgentAdapter
  readonly events: readonly string[]
}

/** An effect of a hook that an agent cannot carry out, or a call that its hooks cannot reach. */
export interface AgentWarning {
  /** Index of the hook in the list. A warning about several hooks names the first. */
  readonly index: number
  readonly hook?: string
  readonly event: string
  readonly agent?: string
  readonly message: string
}

/** The events that `connect` registers by default. */
export function defaultEvents({ events }: AgentAdapter): readonly string[] {
  return Object.entries(events)
    .filter(([, { event, chatty }]) => event !== undefined && chatty !== true)
    .map(([name]) => name)
}

interface CheckedHook {
  readonly index: number
  readonly hook: HookDefinition
  readonly event: keyof Catalogue
}

const resolve = createNameResolver(catalogue)

/** Lists effects that cannot be delivered, as far as the tables show. Disabled and shadow hooks decide nothing. */
export function agentWarnings(
  hooks: readonly HookDefinition[],
  reaching: readonly ConnectedEvents[],
): readonly AgentWarning[] {
  const checked = hooks.flatMap((hook, index): CheckedHook[] => {
    const event = nameOf(hook.event)
    return event === undefined || hook.enabled === false || hook.shadow ? [] : [{ index, hook, event }]
  })
  return [
    ...checked.flatMap((each) =>
      warnAbout(
        each,
        reaching.filter(({ agent }) => isFor(each.hook, agent)),
      ),
    ),
    ...reaching.flatMap((each) => grantingRewrites(checked, each)),
    ...reaching.flatMap((each) => unreachedTools(checked, each)),
  ].sort((a, b) => a.index - b.index)
}

/** Hooks of a file that do not take text for an invalid answer, because they say so. */
export function textWarnings(hooks: readonly HookDefinition[]): readonly AgentWarning[] {
  return hooks.flatMap((hook, index): AgentWarning[] => {
    const event = nameOf(hook.event)
    if (event === undefined || hook.enabled === false) return []
    const note = textNote({ ...hook, ...answerInFiles(hook, catalogue[event]) }, catalogue[event])
    return note === undefined
      ? []
      : [{ ...subject({ index, hook, event }), message: `${note}: the call runs` }]
  })
}

function nameOf(event: string): keyof Catalogue | undefined {
  try {
    const name = resolve(event)
    return isEvent(name) ? name : undefined
  } catch {
    // Reading the file has already refused unknown events.
    return undefined
  }
}

function isEvent(name: string): name is keyof Catalogue {
  return Object.hasOwn(catalogue, name)
}

/** Whether a hook applies to an agent by name. Ids belong to the gateway and cannot be looked up here. */
function isFor({ agent_ids: ids = [] }: HookDefinition, { name }: AgentAdapter): boolean {
  return ids.length === 0 || ids.includes(name)
}

function warnAbout(checked: CheckedHook, reaching: readonly ConnectedEvents[]): AgentWarning[] {
  if (reaching.length === 0) return []
  const { event } = checked
  const agents = reaching.map((each) => ({ ...each, rows: rowsOf(each, event) }))
  if (agents.every(({ rows }) => rows.length === 0)) return [warnUnreported(checked, reaching)]
  const needed = neededEffect(checked)
  if (needed === undefined) return []
  return agents.flatMap(({ agent, rows }) => {
    const without = rows.filter(([, { honours = [] }]) => !honours.includes(needed))
    return without.map(([native, { note }]) => ({
      ...subject(checked),
      agent: agent.name,
      message: `${agent.title} cannot ${words[needed]} at ${native}${note === undefined ? '' : ` (${note})`}`,
    }))
  })
}

const words: Readonly<Record<'block' | 'rewrite', string>> = {
  block: 'be stopped',
  rewrite: 'take changed output',
}

/** The purpose of the hook: a gate blocks, a transform changes. */
function neededEffect({ hook, event }: CheckedHook): Extract<Effect, 'block' | 'rewrite'> | undefined {
  const { mode, awaitsOnlyTransformers } = catalogue[event]
  if (mode === 'gate') return 'block'
  return awaitsOnlyTransformers && hook.transform ? 'rewrite' : undefined
}

function warnUnreported(checked: CheckedHook, reaching: readonly ConnectedEvents[]): AgentWarning {
  const asked = reaching.flatMap(({ agent }) =>
    Object.entries(agent.events)
      .filter(([, row]) => isAbout(row, checked.event))
      .map(([native]) => `${agent.title} has ${native}, which is connected only on request`),
  )
  const names = reaching.map(({ agent }) => agent.title).join(', ')
  const more = asked.length === 0 ? '' : `; ${asked.join('; ')}`
  return { ...subject(checked), message: `${checked.event} never comes from ${names}${more}` }
}

/** One warning for all hooks: only running a hook shows whether it changes its input. */
function grantingRewrites(
  checked: readonly CheckedHook[],
  { agent, events }: ConnectedEvents,
): AgentWarning[] {
  return Object.entries(agent.events).flatMap(([native, row]) => {
    if (!row.rewriteGrants || !events.includes(native)) return []
    const first = checked.find(({ hook, event }) => isAbout(row, event) && isFor(hook, agent))
    if (first === undefined) return []
    const message = `when a hook changes the input at ${native}, ${agent.title} also takes the call as granted`
    return [{ index: first.index, event: first.event, agent: agent.name, message }]
  })
}

/** One warning for all hooks: the tools without a name of ours that no matcher of a hook on tool calls reaches. */
function unreachedTools(checked: readonly CheckedHook[], { agent, events }: ConnectedEvents): AgentWarning[] {
  const gates = checked.filter(({ hook, event }) => event === 'pre_tool_use' && isFor(hook, agent))
  const [first] = gates
  if (first === undefined || rowsOf({ agent, events }, 'pre_tool_use').length === 0) return []
  const matchers = gates.map(({ hook }) => compileMatcher(nameConditions(hook), 'pre_tool_use'))
  const unreached = agent.unmappedTools.filter((tool) => !matchers.some(({ byName }) => byName(tool)))
  if (unreached.length === 0) return []
  const message = `no matcher reaches these tools of ${agent.title}, which have no common name: ${unreached.join(', ')}`
  return [{ index: first.index, event: first.event, agent: agent.name, message }]
}

/** Whatever else a hook checks depends on the call. */
function nameConditions({ matcher, match }: HookDefinition): HookConditions {
  return definedFields({ matcher, match })
}

function rowsOf({ agent, events }: ConnectedEvents, event: string): readonly [string, NativeEvent][] {
  return Object.entries(agent.events).filter(([name, row]) => events.includes(name) && isAbout(row, event))
}

function isAbout(row: NativeEvent, event: string): boolean {
  return row.event === event || row.also === event
}

function subject({ index, hook, event }: CheckedHook): Pick<AgentWarning, 'index' | 'hook' | 'event'> {
  const name = hook.id ?? hook.name
  return { index, event, ...definedFields({ hook: name }) }
}
