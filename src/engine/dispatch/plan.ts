import type { EventRow } from '../core/event.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Engine } from './engine.ts'
import { subjectOf } from './subject.ts'
import type { Track } from './track.ts'
import { ticksFor } from './wheel.ts'

const MAX_NAMES = 1_024
/** A longer name is looked at each time: a thousand of any length would fill the memory. */
const MAX_REMEMBERED = 1_024

/** The hooks of one event whose name conditions hold for one name, in order. */
export interface Chain {
  /** Run one after the other and decide. */
  readonly deciders: Track
  /** Run beside the answer. */
  readonly observers: readonly CompiledHook[]
  /** No decider has anything to ask before it runs. */
  readonly allPlain: boolean
  /** Nothing runs beside the answer and nobody wants times. */
  readonly simple: boolean
  /** Nothing runs at all, and nobody wants to know. */
  readonly silent: boolean
}

/** The immutable, ordered hooks of one event, and a memory of which of them a name concerns. */
export interface Plan {
  readonly event: string
  readonly row: EventRow
  /** Switched off, by a person or because the file says so: for traces only. */
  readonly disabled: readonly CompiledHook[]
  readonly hooks: readonly CompiledHook[]
  chainFor(name: string): Chain
  /** The same, from a payload; does not look at the name when no hook asks for one. */
  chainOf(payload: unknown): Chain
}

/** Locked hooks first, then priority, then the order of creation, which a stable sort keeps. */
function inOrder(a: CompiledHook, b: CompiledHook): number {
  const locked = Number(b.definition.locked ?? false) - Number(a.definition.locked ?? false)
  return locked || (b.definition.priority ?? 0) - (a.definition.priority ?? 0)
}

export function makePlan(engine: Engine, event: string, row: EventRow, all: readonly CompiledHook[]): Plan {
  const chains = new Map<string, Chain>()
  const add = (name: string): Chain => {
    // Names come from agents, so there may be any number of them.
    if (chains.size >= MAX_NAMES) chains.clear()
    const chain = makeChain(engine, plan, name)
    if (name.length <= MAX_REMEMBERED) chains.set(name, chain)
    return chain
  }
  const chainFor = (name: string): Chain => chains.get(name) ?? add(name)
  const plan: Plan = {
    event,
    row,
    hooks: all.filter((hook) => hook.definition.enabled !== false || hook.tripped).sort(inOrder),
    disabled: all.filter((hook) => hook.definition.enabled === false && !hook.tripped),
    chainFor,
    chainOf: (payload) => everybody ?? chainFor(subjectOf(row, payload)),
  }
  const everybody = plan.hooks.some((hook) => hook.matcher.parts.some((part) => part.byName))
    ? undefined
    : chainFor('')
  return plan
}

function makeChain(engine: Engine, plan: Plan, name: string): Chain {
  const { row } = plan
  const observes = (hook: CompiledHook) =>
    row.mode === 'observe' || (row.awaitsOnlyTransformers && hook.definition.transform !== true)
  const concerned = plan.hooks.filter((hook) => hook.matcher.byName(name))
  const hooks = concerned.filter((hook) => !observes(hook))
  const budgetMs = Math.max(engine.budgetMs, ...hooks.map((hook) => hook.timeoutMs))
  const observers = concerned.filter(observes)
  return {
    deciders: {
      engine,
      plan,
      hooks,
      role: 'decide',
      budgetTicks: ticksFor(budgetMs),
      counts: row.maxBlocksInARow !== undefined,
    },
    observers,
    allPlain: hooks.every((hook) => hook.plain),
    simple: observers.length === 0 && engine.sink?.timed !== true,
    silent: concerned.length === 0 && engine.sink === undefined,
  }
}
