import { handlerError } from '../../../engine/core/errors/handler-errors.ts'
import type { GuardState } from '../../../engine/core/guard-state.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { TokenBudget } from '../../../handlers/prompt/token-budget.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'

interface BudgetParts {
  readonly store: Pick<Store, 'readBudget' | 'spendBudget'>
  readonly settings: Settings
  readonly log: Log
}

/** The token budget of a tenant, shared by all nodes through the store. */
export function storeBudget({ store, settings, log }: BudgetParts): TokenBudget {
  const totalOf = (tenant: string) => settings.of(tenant).monthly_tokens
  return {
    async check(tenant) {
      const { remaining } = await store.readBudget(tenant, totalOf(tenant))
      return remaining > 0
    },
    async deduct(tenant, tokens) {
      if (!(tokens >= 0)) throw handlerError('prompt.budget', 'tokens used cannot be negative')
      const { remaining, warn } = await store.spendBudget(tenant, tokens, totalOf(tenant))
      if (warn) log('prompt.budget_low', { tenant, remaining, total: totalOf(tenant) })
    },
  }
}

/** Counts the prompt hooks of a turn across all nodes. The key of a turn contains its tenant. */
export function storeTurns(store: Pick<Store, 'takeGuards'>): GuardState {
  return {
    take(requests) {
      const [, tenant = ''] = JSON.parse(requests[0]?.key ?? '[]')
      return store.takeGuards(tenant, requests)
    },
  }
}
