import { errorText, HookError } from '../../engine/core/error.ts'
import type { Handler, HandlerCall } from '../../engine/core/handler.ts'
import type { Log } from '../../engine/core/sink.ts'
import { redact } from '../../safe/redact.ts'
import { refusal } from '../block-answer.ts'
import type { Models } from '../model/models.ts'
import type { Asking } from '../prompt/ask.ts'
import { createLedger } from '../prompt/ledger.ts'
import { askOpenHarness } from '../prompt/openharness.ts'
import type { TokenBudget } from '../prompt/token-budget.ts'
import { readAgentAnswer } from './agent-answer.ts'
import { type AgentConfig, readAgentConfig, type StartConfig } from './agent-config.ts'
import { type AgentRequest, agentInput, agentRequest } from './agent-request.ts'

/** For hooks of the OpenHarness form, which ask a model themselves. */
export interface AgentOptions {
  readonly models?: Models
  readonly budget?: TokenBudget
  readonly log?: Log
}

/** Asks the host to start an agent and waits for what it says. */
export function createAgentHandler(options: AgentOptions = {}): Handler<AgentConfig> {
  const { models, budget, log = () => {} } = options
  const asking: Asking | undefined = models && { models, ledger: createLedger(budget, log) }
  return {
    type: 'agent',
    timeoutCode: 'agent.timeout',
    read: readAgentConfig,
    run({ config, ...rest }) {
      if (config.format === 'start') return start({ config, ...rest })
      if (asking === undefined) throw new HookError('prompt.model', 'no model is configured to ask')
      return askOpenHarness(asking, { config, ...rest }, { thorough: true })
    },
  }
}

async function start(call: HandlerCall<StartConfig>): Promise<unknown> {
  const { config, payload, context, hook } = call
  const input = agentInput(payload, context)
  const problem = config.checkInput(input)
  // No failure of the agent but an event it is not for, so no policy may let it pass.
  if (problem !== undefined) {
    context.report({ input_refused: problem })
    return refusal('block', { reason: `the agent does not take this input: ${problem}` }, hook)
  }
  const request = agentRequest(config, input, context)
  context.report({ agent_name: config.agentName ?? '', agent_depth: request.depth })
  const answer = await launched(call, request)
  return readAgentAnswer(answer, call, config.checkOutput)
}

async function launched(
  { host, context }: HandlerCall<StartConfig>,
  request: AgentRequest,
): Promise<unknown> {
  if (host.startAgent === undefined)
    throw new HookError('agent.no_host', 'no agent launcher is registered in the runtime context')
  try {
    return await host.startAgent(request, context.signal)
  } catch (thrown) {
    if (thrown instanceof HookError) throw thrown
    throw new HookError('agent.failed', `the agent failed: ${redact(errorText(thrown))}`)
  }
}
