import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { HookDefinition } from '../core/hook.ts'
import { budget } from './budget.ts'
import { cooldown } from './cooldown.ts'
import { dedup } from './dedup.ts'
import type { Guard } from './guard.ts'
import { quota } from './quota.ts'

/** Every guard that keeps state. Depth and the breaker need none: see `depth.ts` and `breaker.ts`. */
const guards: readonly Guard[] = [cooldown, dedup, quota, budget]

interface HookGuards {
  readonly count: number
  ask(payload: unknown, context: HookContext): readonly GuardRequest[]
}

/** What a hook asks before it fires; nothing at all for a hook without guard fields. */
export function guardsOf(hook: HookDefinition): HookGuards | undefined {
  const asks = guards.map((guard) => guard(hook)).filter((ask) => ask !== undefined)
  if (asks.length === 0) return undefined
  return { count: asks.length, ask: (payload, context) => asks.map((ask) => ask(payload, context)) }
}
