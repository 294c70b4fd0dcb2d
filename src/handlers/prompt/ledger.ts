import { errorText, HookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { TokenBudget } from './token-budget.ts'

/** Stands between the handler and a budget whose store may fail: nothing that was used is forgotten. */
export interface Ledger {
  /** Throws `prompt.budget` when nothing is left or nobody can say. */
  check(tenant: string | undefined): Promise<void>
  /** Never fails: what cannot be taken now is owed. */
  spend(tenant: string | undefined, tokens: number): Promise<void>
  /** Tries to take what is still owed. */
  reconcile(): Promise<void>
  /** Tokens used but not yet taken, by tenant. */
  owed(): Readonly<Record<string, number>>
}

/** An event without a tenant has no budget. */
export function createLedger(budget: TokenBudget | undefined, log: Log): Ledger {
  const debts = new Map<string, number>()
  const take = async (tenant: string, tokens: number) => {
    try {
      await budget?.deduct(tenant, tokens)
    } catch (thrown) {
      debts.set(tenant, (debts.get(tenant) ?? 0) + tokens)
      log('security.hook.budget_deduct_failed', { tenant, tokens, error: errorText(thrown) })
    }
  }
  const settle = async (tenant: string) => {
    const tokens = debts.get(tenant)
    if (tokens === undefined) return
    // Taken out first, so that two calls at once do not pay the same debt twice.
    debts.delete(tenant)
    await take(tenant, tokens)
  }
  return {
    async check(tenant) {
      if (budget === undefined || !tenant) return
      await settle(tenant)
      const left = await askBudget(budget, tenant, log)
      if (!left)
        throw new HookError(
          'prompt.budget',
          'tenant hook token budget exceeded: nothing is left of this month',
        )
    },
    async spend(tenant, tokens) {
      if (tenant) await take(tenant, tokens)
    },
    async reconcile() {
      for (const tenant of [...debts.keys()]) await settle(tenant)
    },
    owed: () => Object.fromEntries(debts),
  }
}

async function askBudget(budget: TokenBudget, tenant: string, log: Log): Promise<boolean> {
  try {
    return await budget.check(tenant)
  } catch (thrown) {
    log('security.hook.budget_precheck_failed', { tenant, error: errorText(thrown) })
    throw new HookError('prompt.budget', 'nobody could say what is left of the token budget')
  }
}
