import { errorText } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'

/** How many tokens a tenant may use for prompt hooks. */
export interface TokenBudget {
  /** Whether anything is left. */
  check(tenant: string): boolean | Promise<boolean>
  /** Charges the tokens of a call, even if more than were left. */
  deduct(tenant: string, tokens: number): void | Promise<void>
}

/** Charges tenants for tokens. If the store of the budget fails, the ledger keeps the debt and charges it later. */
export interface TokenLedger {
  /** Throws `prompt.budget` if nothing is left or if the budget cannot be read. */
  check(tenant: string | undefined): Promise<void>
  /** Never fails: tokens that cannot be charged now become a debt. */
  spend(tenant: string | undefined, tokens: number): Promise<void>
  /** Tries to charge all debts. */
  reconcile(): Promise<void>
  /** Tokens used and not yet charged, by tenant. */
  owed(): Readonly<Record<string, number>>
}

/** Events without a tenant are not charged. */
export function createLedger(budget: TokenBudget | undefined, log: Log): TokenLedger {
  const debts = new Map<string, number>()
  const charge = async (tenant: string, tokens: number) => {
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
    // Removed first, so that two concurrent calls do not charge the same debt twice.
    debts.delete(tenant)
    await charge(tenant, tokens)
  }
  return {
    async check(tenant) {
      if (budget === undefined || !tenant) return
      await settle(tenant)
      const message = 'tenant hook token budget exceeded: nothing is left of this month'
      if (!(await askBudget(budget, tenant, log))) throw handlerError('prompt.budget', message)
    },
    async spend(tenant, tokens) {
      if (tenant) await charge(tenant, tokens)
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
    throw handlerError('prompt.budget', 'the token budget cannot be read')
  }
}
