import { handlerError } from '../src/engine/core/errors/handler-errors.ts'
import type { Log } from '../src/engine/core/records/sink.ts'
import { type Clock, steadyTime, systemClock } from '../src/engine/core/time/clock.ts'
import type { TokenBudget } from '../src/handlers/prompt/token-budget.ts'

const MONTHLY_TOKENS = 1_000_000
const WARN_BELOW = 0.2

interface Account {
  readonly month: string
  used: number
  warned: boolean
}

interface MemoryBudgetOptions {
  /** Per tenant and calendar month, UTC. */
  readonly total?: number
  readonly clock?: Clock
  readonly log?: Log
}

/** A budget in memory, for one process. It starts anew each month. */
export function memoryTokenBudget(
  options: MemoryBudgetOptions = {},
): TokenBudget & { remaining(tenant: string): number } {
  const { total = MONTHLY_TOKENS, clock = systemClock, log } = options
  const now = steadyTime(clock)
  const accounts = new Map<string, Account>()
  const accountOf = (tenant: string): Account => {
    if (tenant === '') throw handlerError('prompt.budget', 'a token budget needs a tenant')
    const month = monthOf(now())
    const known = accounts.get(tenant)
    if (known?.month === month) return known
    const fresh = { month, used: 0, warned: false }
    accounts.set(tenant, fresh)
    return fresh
  }
  return {
    check: (tenant) => accountOf(tenant).used < total,
    remaining: (tenant) => total - accountOf(tenant).used,
    deduct(tenant, tokens) {
      if (!(tokens >= 0)) throw handlerError('prompt.budget', 'tokens used cannot be negative')
      const account = accountOf(tenant)
      account.used += tokens
      const remaining = total - account.used
      if (remaining >= total * WARN_BELOW || account.warned) return
      account.warned = true
      log?.('prompt.budget_low', { tenant, remaining, total })
    },
  }
}

/** For example `2026-08`. */
function monthOf(now: number): string {
  return utcMonth.format(now)
}

const utcMonth = new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', year: 'numeric', month: '2-digit' })
