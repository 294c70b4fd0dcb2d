import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import type { MethodParts } from '../parts.ts'
import { defineCall } from './method.ts'
import { noParams } from './method-fields.ts'

export const budgetSchema = z.object({
  tenant_id: z.string(),
  month_start: z.number().describe('First day of the month, UTC, in ms.'),
  budget_total: z.number(),
  remaining: z.number(),
  last_warned_at: z.number().nullable(),
})

export function readBudget(tenant: string, { store, settings }: Pick<MethodParts, 'store' | 'settings'>) {
  return store.readBudget(tenant, settings.of(tenant).monthly_tokens)
}

const get = defineCall({
  name: 'budgets.get',
  about: 'The token budget of prompt hooks for this month, and what is left of it.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/budget' },
  params: noParams,
  result: z.object({ budget: budgetSchema }),
  needs: ['store', 'settings'],
  async run({ caller, parts }) {
    return { budget: await readBudget(caller.tenant, parts) }
  },
})

const set = defineCall({
  name: 'budgets.set',
  about: 'Sets the monthly token budget; tokens already spent this month stay spent.',
  role: 'admin',
  rest: { verb: 'PUT', path: '/v1/budget' },
  params: z.strictObject({ total: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  result: z.object({ budget: budgetSchema }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { budget: await parts.store.setBudget(caller.tenant, params.total) }
  },
})

export const budgetMethods = [get, set] as const
