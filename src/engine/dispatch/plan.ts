import type { EventRow } from '../core/event.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { ticksFor } from './wheel.ts'

const MAX_NAMES = 1_024

/** The hooks of one event whose name conditions hold for one name, in order. */
export interface Chain {
  /** Run one after the other and decide. */
  readonly deciders: readonly CompiledHook[]
  /** Run beside the answer. */
  readonly observers: readonly CompiledHook[]
  readonly budgetTicks: number
  /** No decider has anything to ask before it runs. */
  readonly allPlain: boolean
}

/** The immutable, ordered hooks of one event, and a memory of which of them a name concerns. */
export interface Plan {
  readonly event: string
  readonly row: EventRow
  /** Switched off, by a person or because the file says so: for traces only. */
  readonly disabled: readonly CompiledHook[]
  readonly hooks: readonly CompiledHook[]
  chainFor(name: string): Chain
}

/** Locked hooks first, then priority, then the order of creation, which a stable sort keeps. */
function inOrder(a: CompiledHook, b: CompiledHook): number {
  const locked = Number(b.definition.locked ?? false) - Number(a.definition.locked ?? false)
  return locked || (b.definition.priority ?? 0) - (a.definition.priority ?? 0)
}

export function makePlan(event: string, row: EventRow, all: readonly CompiledHook[], budgetMs: number): Plan {
  const hooks = all.filter((hook) => hook.definition.enabled !== false || hook.tripped).sort(inOrder)
  const disabled = all.filter((hook) => hook.definition.enabled === false && !hook.tripped)
  const chains = new Map<string, Chain>()
  return {
    event,
    row,
    disabled,
    hooks,
    chainFor(name) {
      const known = chains.get(name)
      if (known !== undefined) return known
      // Names come from agents, so there may be any number of them.
      if (chains.size >= MAX_NAMES) chains.clear()
      const chain = makeChain(
        row,
        hooks.filter((hook) => hook.matcher.byName(name)),
        budgetMs,
      )
      chains.set(name, chain)
      return chain
    },
  }
}

function makeChain(row: EventRow, hooks: readonly CompiledHook[], budgetMs: number): Chain {
  const observes = (hook: CompiledHook) =>
    row.mode === 'observe' || (row.awaitsOnlyTransformers && hook.definition.transform !== true)
  const deciders = hooks.filter((hook) => !observes(hook))
  return {
    deciders,
    observers: hooks.filter(observes),
    budgetTicks: ticksFor(Math.max(budgetMs, ...deciders.map((hook) => hook.timeoutMs))),
    allPlain: deciders.every((hook) => hook.plain),
  }
}
