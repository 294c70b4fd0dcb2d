import { schema } from '../core/schema/schema.ts'
import { countedSubject, countPerField, defineGuard, guardKey } from './guard.ts'

const amount = (about: string) => schema.integer(0, Number.MAX_SAFE_INTEGER, about)

/** Limits what the hooks of a tenant that share a named budget may spend. */
export const budgetGuard = defineGuard({
  fields: {
    budget: schema.object(
      {
        name: schema.text('Hooks that name the same budget share it.'),
        cost: schema.optional(amount('What one run costs; 1 by default.')),
        limit: amount('The whole budget.'),
      },
      'A named budget to draw on. A gate whose budget is spent fails.',
    ),
    ...countPerField,
  },
  question({ budget: drawn, count_per }) {
    if (drawn === undefined) return undefined
    const { name, limit, cost = 1 } = drawn
    return (_payload, { envelope }) => ({
      kind: 'budget',
      key: guardKey(envelope.tenant ?? '', name, ...(count_per ? [countedSubject(envelope, count_per)] : [])),
      cost,
      limit,
    })
  },
})
