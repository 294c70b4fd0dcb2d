import type { HookContext } from '../../engine/core/context.ts'
import { type Answered, askModel, type Question } from '../model/ask-model.ts'
import type { Models } from '../model/models.ts'
import type { Ledger } from './ledger.ts'

export interface Asking {
  readonly models: Models
  readonly ledger: Ledger
}

interface Ask<T> {
  readonly model: string | undefined
  readonly question: Question
  readonly read: (answered: Answered) => T
}

/** Budget, provider, call, reading, deduction, in this order. What an answer cost is paid even if it is unreadable. */
export async function ask<T>(
  { models, ledger }: Asking,
  context: HookContext,
  { model, question, read }: Ask<T>,
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
