import { schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { noParams } from '../methods/method-fields.ts'
import type { MethodParts } from '../methods/method-parts.ts'
import { rowFields } from '../methods/row-fields.ts'
import { budgets } from './secret-tables.ts'

export const budgetSchema = schema.object(
  rowFields(budgets, [], { month_start: 'First day of the month, UTC, in ms.' }),
)

export function readBudget(tenant: string, { store, settings }: Pick<MethodParts, 'store' | 'settings'>) {
  return store.readBudget(tenant, settings.of(tenant).monthly_tokens)
}

const get = defineCall({
  name: 'budgets.get',
  about: 'The token budget of prompt hooks for this month, and what is left of it.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/budget' },
  params: noParams,
  result: schema.object({ budget: budgetSchema }),
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
  params: schema.object({ total: schema.integer(0, Number.MAX_SAFE_INTEGER) }),
  result: schema.object({ budget: budgetSchema }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { budget: await parts.store.setBudget(caller.tenant, params.total) }
  },
})

export const budgetMethods = [get, set] as const
