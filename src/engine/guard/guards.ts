import type { HookContext } from '../core/context.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import { type FieldsType, type Optional, schema } from '../core/schema/schema.ts'
import { budgetGuard } from './budget.ts'
import { cooldownGuard } from './cooldown.ts'
import { dedupGuard } from './dedup.ts'
import { expiryFields } from './expiry.ts'
import type { Guard } from './guard.ts'
import { quotaGuard } from './quota.ts'

/** Every guard with state in the guard state. The engine applies `depth.ts`, `expiry.ts` and `breaker.ts` itself. */
const guards = [cooldownGuard, dedupGuard, quotaGuard, budgetGuard] as const

type DeclaredFields = UnionToIntersection<(typeof guards)[number]['fields']> & typeof expiryFields
type GuardFields = { readonly [K in keyof DeclaredFields]: Optional<DeclaredFields[K]> }
type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never

const declared: DeclaredFields = Object.assign({}, ...guards.map(({ fields }) => fields), expiryFields)

/** The hook fields that guards declare. Every one of them is optional. */
export const guardFields: GuardFields = schema.partial(declared)

interface HookGuards {
  readonly count: number
  /** The requests to make before the hook fires. */
  ask(payload: unknown, context: HookContext): readonly GuardRequest[]
}

/** Compiles the guards of a hook; undefined for a hook without guard fields. */
export function guardsOf(hook: FieldsType<GuardFields> & { readonly id?: string }): HookGuards | undefined {
  const all: readonly Guard[] = guards
  const questions = all.map((guard) => guard.question(hook)).filter((question) => question !== undefined)
  if (questions.length === 0) return undefined
  return {
    count: questions.length,
    ask: (payload, context) => questions.map((question) => question(payload, context)),
  }
}
