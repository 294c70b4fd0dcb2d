import { isRecord } from '../../engine/core/check.ts'
import { type Clock, systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { GuardState } from '../../engine/core/guard-state.ts'
import type { Handler, HandlerCall } from '../../engine/core/handler.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Answered } from '../model/ask-model.ts'
import type { Models } from '../model/models.ts'
import { type Asking, ask } from './ask.ts'
import { type Decided, readDecide } from './decide-answer.ts'
import { cacheKey, type DecisionCache, memoryDecisionCache } from './decision-cache.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { askOpenHarness } from './openharness.ts'
import { type PromptConfig, readPromptConfig } from './prompt-config.ts'
import { decideQuestion } from './question.ts'
import type { TokenBudget } from './token-budget.ts'
import { countTurn, memoryTurns } from './turns.ts'

export interface PromptOptions {
  readonly models: Models
  readonly budget?: TokenBudget
  /** Where invocations per turn are counted; shared by several processes if it is a store's. */
  readonly turns?: GuardState
  readonly cache?: DecisionCache
  readonly clock?: Clock
  readonly log?: Log
}

type JudgeConfig = Extract<PromptConfig, { format: 'judge' }>
type Judging = HandlerCall<JudgeConfig>

interface Parts extends Asking {
  readonly turns: GuardState
  readonly cache: DecisionCache
  readonly clock: Clock
  readonly log: Log
}

/** A model as judge. */
export function createPromptHandler(
  options: PromptOptions,
): Handler<PromptConfig> & Pick<Ledger, 'reconcile' | 'owed'> {
  const { models, clock = systemClock, log = () => {} } = options
  const { turns = memoryTurns(clock), cache = memoryDecisionCache(clock) } = options
  const ledger = createLedger(options.budget, log)
  const parts = { models, ledger, turns, cache, clock, log }
  return {
    type: 'prompt',
    timeoutCode: 'prompt.timeout',
    read: readPromptConfig,
    run({ config, ...rest }) {
      if (config.format === 'openharness') return askOpenHarness(parts, { config, ...rest })
      return judge(parts, { config, ...rest })
    },
    reconcile: ledger.reconcile,
    owed: ledger.owed,
  }
}

/** The turn is counted first, cached answers included: a loop is a loop even where it costs nothing. */
async function judge(parts: Parts, call: Judging): Promise<unknown> {
  const { config, payload, context, hook } = call
  const { turns, cache, clock } = parts
  await countTurn(turns, context, { limit: config.perTurn, now: clock.now() })
  const { tool_name: name, tool_input: input } = isRecord(payload) ? payload : {}
  const tool = typeof name === 'string' ? name : ''
  const { tenant = '' } = context.envelope
  const key = cacheKey({ tenant, hook: hook.id ?? '', version: config.version, tool, input })
  const known = cache.get(key)
  const decided =
    known ??
    (await ask(parts, context, {
      model: config.model,
      question: decideQuestion(config.template, { event: context.event, tool, input }),
      read: (answered) => readOrLog(answered, parts.log, call),
    }))
  if (known === undefined) cache.set(key, decided)
  else context.report({ cached: true })
  context.report({ injection_detected: decided.injected })
  return decided.result
}

function readOrLog(answered: Answered, log: Log, { context, hook }: Judging): Decided {
  try {
    return readDecide(answered, context.event, hook)
  } catch (thrown) {
    const { tenant } = context.envelope
    const fields = { hook: hook.id, event: context.event, why: errorText(thrown) }
    log('security.hook.prompt_parse_error', tenant === undefined ? fields : { ...fields, tenant })
    throw thrown
  }
}
