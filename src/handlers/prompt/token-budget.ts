import { type Clock, systemClock } from '../../engine/core/clock.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'

const MONTHLY_TOKENS = 1_000_000
const WARN_BELOW = 0.2

/** What a tenant may spend on models that judge. */
export interface TokenBudget {
  /** Whether anything is left. */
  check(tenant: string): boolean | Promise<boolean>
  /** Takes what a call really used, even if that is more than was left. */
  deduct(tenant: string, tokens: number): void | Promise<void>
}

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

/** The budget of one process. A new month begins with nothing used. */
export function memoryTokenBudget(
  options: MemoryBudgetOptions = {},
): TokenBudget & { remaining(tenant: string): number } {
  const { total = MONTHLY_TOKENS, clock = systemClock, log } = options
  const accounts = new Map<string, Account>()
  const accountOf = (tenant: string): Account => {
    if (tenant === '')
      throw new HookError('prompt.budget', 'a token budget belongs to a tenant, none is named')
    const month = monthOf(clock.now())
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
      if (!(tokens >= 0)) throw new HookError('prompt.budget', 'tokens used cannot be negative')
      const account = accountOf(tenant)
      account.used += tokens
      const remaining = total - account.used
      if (remaining >= total * WARN_BELOW || account.warned) return
      account.warned = true
      log?.('prompt.budget_low', { tenant, remaining, total })
    },
  }
}

/** `2026-08`; the number of milliseconds is all a clock of ours tells. */
function monthOf(now: number): string {
  return utcMonth.format(now)
}

const utcMonth = new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', year: 'numeric', month: '2-digit' })
