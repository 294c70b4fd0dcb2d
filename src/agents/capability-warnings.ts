import { type Catalogue, catalogue } from '../engine/events/catalogue.ts'
import { createNameResolver } from '../engine/events/event-names.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import type { AgentAdapter, Effect, NativeEvent } from './agent-adapter.ts'

/** An agent, and the events of its own that reach us. */
export interface ConnectedEvents {
  readonly agent: AgentAdapter
  readonly events: readonly string[]
}

/** Something that a hook may decide and an agent cannot carry out. */
export interface AgentWarning {
  /** Its place in the list that was given; a warning about several names the first. */
  readonly index: number
  readonly hook?: string
  readonly event: string
  readonly agent?: string
  readonly message: string
}

/** The events of an agent that are connected unless somebody asks for more. */
export function defaultEvents({ events }: AgentAdapter): readonly string[] {
  return Object.entries(events)
    .filter(([, { event, chatty }]) => event !== undefined && chatty !== true)
    .map(([name]) => name)
}

interface Meant {
  readonly index: number
  readonly hook: HookDefinition
  readonly event: keyof Catalogue
}

const resolve = createNameResolver(catalogue)

/** What cannot be delivered, as far as the tables alone can tell. Hooks that are off or only watch decide nothing. */
export function agentWarnings(
  hooks: readonly HookDefinition[],
  reaching: readonly ConnectedEvents[],
): readonly AgentWarning[] {
  const meant = hooks.flatMap((hook, index): Meant[] => {
    const event = nameOf(hook.event)
    return event === undefined || hook.enabled === false || hook.shadow ? [] : [{ index, hook, event }]
  })
  return [
    ...meant.flatMap((each) =>
      warnAbout(
        each,
        reaching.filter(({ agent }) => isFor(each.hook, agent)),
      ),
    ),
    ...reaching.flatMap((each) => grantingRewrites(meant, each)),
  ].sort((a, b) => a.index - b.index)
}

function nameOf(event: string): keyof Catalogue | undefined {
  try {
    const name = resolve(event)
    return isEvent(name) ? name : undefined
  } catch {
    // What is no event was refused when the file was read.
    return undefined
  }
}

function isEvent(name: string): name is keyof Catalogue {
  return Object.hasOwn(catalogue, name)
}

/** A hook for some agents only names them; ids are the gateway's, and cannot be looked up here. */
function isFor({ agent_ids: ids = [] }: HookDefinition, { name }: AgentAdapter): boolean {
  return ids.length === 0 || ids.includes(name)
}

function warnAbout(meant: Meant, reaching: readonly ConnectedEvents[]): AgentWarning[] {
  if (reaching.length === 0) return []
  const { event } = meant
  const told = reaching.map((each) => ({ ...each, rows: rowsOf(each, event) }))
  if (told.every(({ rows }) => rows.length === 0)) return [unheard(meant, reaching)]
  const needed = neededEffect(meant)
  if (needed === undefined) return []
  return told.flatMap(({ agent, rows }) => {
    const without = rows.filter(([, { honours = [] }]) => !honours.includes(needed))
    return without.map(([native, { note }]) => ({
      ...subject(meant),
      agent: agent.name,
      message: `${agent.title} cannot ${words[needed]} at ${native}${note === undefined ? '' : ` (${note})`}`,
    }))
  })
}

const words: Readonly<Record<'block' | 'rewrite', string>> = {
  block: 'be stopped',
  rewrite: 'take changed output',
}

/** What the hook is there for: a gate blocks, a transformer changes. */
function neededEffect({ hook, event }: Meant): Extract<Effect, 'block' | 'rewrite'> | undefined {
  const { mode, awaitsOnlyTransformers } = catalogue[event]
  if (mode === 'gate') return 'block'
  return awaitsOnlyTransformers && hook.transform ? 'rewrite' : undefined
}

function unheard(meant: Meant, reaching: readonly ConnectedEvents[]): AgentWarning {
  const asked = reaching.flatMap(({ agent }) =>
    Object.entries(agent.events)
      .filter(([, row]) => isAbout(row, meant.event))
      .map(([native]) => `${agent.title} has ${native}, which is connected only when asked for`),
  )
  const names = reaching.map(({ agent }) => agent.title).join(', ')
  const more = asked.length === 0 ? '' : `; ${asked.join('; ')}`
  return { ...subject(meant), message: `${meant.event} never comes from ${names}${more}` }
}

/** Said once for all hooks: which of them changes its input, only running them would tell. */
function grantingRewrites(meant: readonly Meant[], { agent, events }: ConnectedEvents): AgentWarning[] {
  return Object.entries(agent.events).flatMap(([native, row]) => {
    if (!row.rewriteGrants || !events.includes(native)) return []
    const first = meant.find(({ hook, event }) => isAbout(row, event) && isFor(hook, agent))
    if (first === undefined) return []
    const message = `when a hook changes the input at ${native}, ${agent.title} also takes the call as granted`
    return [{ index: first.index, event: first.event, agent: agent.name, message }]
  })
}

function rowsOf({ agent, events }: ConnectedEvents, event: string): readonly [string, NativeEvent][] {
  return Object.entries(agent.events).filter(([name, row]) => events.includes(name) && isAbout(row, event))
}

function isAbout(row: NativeEvent, event: string): boolean {
  return row.event === event || row.also === event
}

function subject({ index, hook, event }: Meant): Pick<AgentWarning, 'index' | 'hook' | 'event'> {
  const name = hook.id ?? hook.name
  return { index, event, ...(name === undefined ? {} : { hook: name }) }
}
