import type { HookContext } from '../../engine/core/context.ts'
import { type Answered, askModel, type Question } from '../model/ask-model.ts'
import type { Models } from '../model/models.ts'
import type { TokenLedger } from './token-budget.ts'

/** The models that hooks may ask, and the ledger that charges for them. */
export interface ModelAccess {
  readonly models: Models
  readonly ledger: TokenLedger
}

interface ModelRequest<T> {
  readonly model: string | undefined
  readonly question: Question
  readonly read: (answered: Answered) => T
}

/** Checks the budget, asks the model, reads the answer and charges for it. An unreadable answer is charged too. */
export async function askWithinBudget<T>(
  { models, ledger }: ModelAccess,
  context: HookContext,
  { model, question, read }: ModelRequest<T>,
): Promise<T> {
  const { tenant } = context.envelope
  await ledger.check(tenant)
  const served = await models.find(model, tenant)
  context.report({ prompt_model: served.model, cached: false })
  const answered = await askModel(served, question, context.signal)
  context.report({ prompt_tokens: answered.tokens })
  try {
    return read(answered)
  } finally {
    await ledger.spend(tenant, answered.tokens)
  }
}
