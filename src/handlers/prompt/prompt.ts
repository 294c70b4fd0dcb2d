import { errorText } from '../../engine/core/errors/error.ts'
import type { GuardState } from '../../engine/core/guard-state.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { defineHandlerType } from '../handler-type.ts'
import type { Answered } from '../model/ask-model.ts'
import type { Models } from '../model/models.ts'
import { askWithinBudget, type ModelAccess } from './ask-within-budget.ts'
import { createDecideQuestion, type ModelDecision, readDecision } from './decide.ts'
import { type DecisionCache, decisionKey, memoryDecisionCache } from './decision-cache.ts'
import { askOpenHarness } from './openharness.ts'
import { type PromptConfig, promptSchema, readPromptConfig } from './prompt-config.ts'
import { createLedger, type TokenBudget } from './token-budget.ts'
import { countTurn, memoryTurns } from './turns.ts'

export interface PromptHandlerOptions {
  readonly models: Models
  readonly budget?: TokenBudget
  /** Counts the invocations per turn; a store shares the count between processes. */
  readonly turns?: GuardState
  readonly cache?: DecisionCache
  readonly clock?: Clock
  readonly log?: Log
}

type DecideCall = HandlerCall<Extract<PromptConfig, { format: 'decide' }>>

type DecideParts = ModelAccess & Required<Pick<PromptHandlerOptions, 'turns' | 'cache' | 'clock' | 'log'>>

export const promptHandler = defineHandlerType({
  type: 'prompt',
  about: 'Asks a language model for a decision.',
  schema: promptSchema,
  create(options: PromptHandlerOptions) {
    const { models, clock = systemClock, log = () => {} } = options
    const { turns = memoryTurns(clock), cache = memoryDecisionCache(clock) } = options
    const ledger = createLedger(options.budget, log)
    const parts = { models, ledger, turns, cache, clock, log }
    return {
      timeoutCode: 'prompt.timeout',
      read: readPromptConfig,
      run({ config, ...rest }) {
        if (config.format === 'openharness') return askOpenHarness(parts, { config, ...rest })
        return decide(parts, { config, ...rest })
      },
      ledger,
      dispose: () => ledger.reconcile(),
    }
  },
})

/** The turn is counted before the cache is read: a loop must end even if its answers are free. */
async function decide(parts: DecideParts, call: DecideCall): Promise<unknown> {
  const { config, payload, context, hook } = call
  const { turns, cache, clock } = parts
  await countTurn(turns, context, { limit: config.perTurn, now: clock.now() })
  const { tool_name: name, tool_input: input } = isRecord(payload) ? payload : {}
  const tool = typeof name === 'string' ? name : ''
  const { tenant = '' } = context.envelope
  const key = decisionKey(tenant, hook.id ?? '', config.version, tool, input)
  const cached = cache.get(key)
  const decision =
    cached ??
    (await askWithinBudget(parts, context, {
      model: config.model,
      question: createDecideQuestion(config.template, { event: context.event, tool, input }),
      read: (answered) => readOrLog(answered, parts.log, call),
    }))
  if (cached === undefined) cache.set(key, decision)
  else context.report({ cached: true })
  context.report({ injection_detected: decision.injected })
  return decision.result
}

function readOrLog(answered: Answered, log: Log, { context, hook }: DecideCall): ModelDecision {
  try {
    return readDecision(answered, context.event, hook)
  } catch (thrown) {
    const { tenant } = context.envelope
    const fields = { hook: hook.id, event: context.event, why: errorText(thrown) }
    log('security.hook.prompt_parse_error', tenant === undefined ? fields : { ...fields, tenant })
    throw thrown
  }
}
