import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { FieldsType } from '../core/schema.ts'
import { budget } from './budget.ts'
import { cooldown } from './cooldown.ts'
import { dedup } from './dedup.ts'
import type { Guard } from './guard.ts'
import { quota } from './quota.ts'

/** Every guard that keeps state. Depth and the breaker keep none: see `depth.ts` and `breaker.ts`. */
const guards = [cooldown, dedup, quota, budget] as const

type GuardFields = UnionToIntersection<(typeof guards)[number]['fields']>
type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never

/** The hook fields that guards declare. */
export const guardFields: GuardFields = Object.assign({}, ...guards.map(({ fields }) => fields))

interface HookGuards {
  readonly count: number
  ask(payload: unknown, context: HookContext): readonly GuardRequest[]
}

/** What a hook asks the guard state before it fires; undefined for a hook without guard fields. */
export function guardsOf(hook: FieldsType<GuardFields> & { readonly id?: string }): HookGuards | undefined {
  const all: readonly Guard[] = guards
  const questions = all.map((guard) => guard.question(hook)).filter((question) => question !== undefined)
  if (questions.length === 0) return undefined
  return {
    count: questions.length,
    ask: (payload, context) => questions.map((question) => question(payload, context)),
  }
}
