import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import type { GatewayParts } from '../parts.ts'
import { noParams } from './fields.ts'
import { method } from './method.ts'

export const budget = z.object({
  tenant_id: z.string(),
  month_start: z.number().describe('First day of the month, UTC, in ms.'),
  budget_total: z.number(),
  remaining: z.number(),
  last_warned_at: z.number().nullable(),
})

export function readBudget(tenant: string, { store, clock, settings }: GatewayParts) {
  return store.readBudget(tenant, clock.now(), settings.of(tenant).monthly_tokens)
}

const get = method({
  name: 'budgets.get',
  about: 'What is left of the tokens that prompt hooks may use this month.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/budget' },
  params: noParams,
  result: z.object({ budget }),
  async run({ caller, parts }) {
    return { budget: await readBudget(caller.tenant, parts) }
  },
})

const set = method({
  name: 'budgets.set',
  about: 'Sets the tokens of a month; what was spent stays spent.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/budget' },
  params: z.strictObject({ total: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  result: z.object({ budget }),
  async run({ params, caller, parts }) {
    return { budget: await parts.store.setBudget(caller.tenant, params.total, parts.clock.now()) }
  },
})

export const budgetMethods = [get, set] as const
