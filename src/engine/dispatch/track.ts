import type { CompiledHook } from './compiled-hook.ts'
import type { Engine } from './engine.ts'
import type { Plan } from './plan.ts'

/** decide: its answer counts · observe: nobody waits for it · shadow: it only records what it would have said */
export type Role = 'decide' | 'observe' | 'shadow'

/** What a dispatch runs along; the same object for every dispatch of one chain. */
export interface Track {
  readonly engine: Engine
  readonly plan: Plan
  readonly hooks: readonly CompiledHook[]
  readonly role: Role
  readonly budgetTicks: number
  /** Its blocks are counted, so even an allow has something to say. */
  readonly counts: boolean
}
