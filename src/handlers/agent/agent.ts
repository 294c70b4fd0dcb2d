import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { StartAgentRequest } from '../../engine/core/host.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { redact } from '../../safe/secrets/redact.ts'
import { defineHandlerType } from '../handler-type.ts'
import type { Models } from '../model/models.ts'
import type { ModelAccess } from '../prompt/ask-within-budget.ts'
import { askOpenHarness } from '../prompt/openharness.ts'
import { createLedger, type TokenBudget } from '../prompt/token-budget.ts'
import { createRefusal } from '../refusal.ts'
import { createRunHookInput } from '../run-hook-input.ts'
import { readAgentAnswer } from './agent-answer.ts'
import { agentSchema, readAgentConfig, type StartAgentConfig } from './agent-config.ts'
import { createAgentRequest } from './agent-request.ts'

/** For hooks with `format: openharness`, which ask a model themselves. */
export interface AgentHandlerOptions {
  readonly models?: Models
  readonly budget?: TokenBudget
  readonly log?: Log
}

export const agentHandler = defineHandlerType({
  type: 'agent',
  about: 'Asks the host to start an agent and waits for its decision.',
  schema: agentSchema,
  create({ models, budget, log = () => {} }: AgentHandlerOptions) {
    const ledger = createLedger(budget, log)
    const access: ModelAccess | undefined = models && { models, ledger }
    return {
      timeoutCode: 'agent.timeout',
      read: readAgentConfig,
      run({ config, ...rest }) {
        if (config.format === 'start') return startAgent({ config, ...rest })
        if (access === undefined) throw handlerError('prompt.model', 'no model is configured to ask')
        return askOpenHarness(access, { config, ...rest }, true)
      },
      dispose: () => ledger.reconcile(),
    }
  },
})

async function startAgent(call: HandlerCall<StartAgentConfig>): Promise<unknown> {
  const { config, payload, context, hook } = call
  const input = createRunHookInput(payload, context)
  const problem = config.checkInput(input)
  // The event does not fit the agent. This is not a failure, so no policy may allow it.
  if (problem !== undefined) {
    context.report({ input_refused: problem })
    return createRefusal('block', { reason: `the agent does not take this input: ${problem}` }, hook)
  }
  const request = createAgentRequest(call, input)
  context.report({ agent_name: config.agentName ?? '', agent_depth: request.depth })
  const answer = await askHost(call, request)
  return readAgentAnswer(answer, call, config.checkOutput)
}

async function askHost(
  { host, context }: HandlerCall<StartAgentConfig>,
  request: StartAgentRequest,
): Promise<unknown> {
  if (host.startAgent === undefined)
    throw handlerError('agent.no_host', 'no agent launcher is registered in the runtime context')
  try {
    return await host.startAgent(request, context.signal)
  } catch (thrown) {
    if (thrown instanceof HookError) throw thrown
    throw handlerError('agent.failed', `the agent failed: ${redact(errorText(thrown))}`)
  }
}
