import type { FunctionTool, RunContext } from '@openai/agents'
import { isRecord } from '../../engine/core/check.ts'
import { systemClock } from '../../engine/core/clock.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/error.ts'
import type { AgentHooks } from '../agent-hooks.ts'
import { copyWith, inputRecord, toolInputFrom } from '../clone-for-hooks.ts'
import { blocked, messageOf, refusalOf } from '../refusal.ts'
import { type AgentsToolGate, aboutCall, parsed } from './tool-gate.ts'

type Invoke = FunctionTool['invoke']
type Guardrail = NonNullable<FunctionTool['inputGuardrails']>[number]

interface Means {
  readonly agentHooks: AgentHooks
  readonly gate: AgentsToolGate
}

/** How the SDK words a failure of a tool that does not word its own. */
const FAILED = 'An error occurred while running the tool.'

/** The same tool, which asks before it runs and tells what came of it. */
export function guardedFunction(tool: FunctionTool, { agentHooks, gate }: Means): FunctionTool {
  const { name } = tool
  const ask = (context: RunContext, callId: string, text: string) =>
    gate.ask(context, { name, callId, input: parsed(text) })

  const needsApproval: FunctionTool['needsApproval'] = async (context, input, callId = '') => {
    const decision = await gate.ask(context, { name, callId, input })
    // The guardrail refuses it, with words for the model.
    if (decision.kind === 'block' || decision.grant === true) return false
    const wanted = decision.input === undefined ? input : toolInputFrom(decision.input, input)
    const needed = decision.kind === 'ask' || (await tool.needsApproval(context, wanted as never, callId))
    if (needed) gate.forget(context, callId)
    return needed
  }

  const gatekeeper: Guardrail = {
    type: 'tool_input',
    name: 'hookhelm',
    async run({ context, toolCall }) {
      const decision = await ask(context, toolCall.callId, toolCall.arguments)
      // A question was answered by now: without an approval nothing comes this far.
      if (decision.kind !== 'block') return { behavior: { type: 'allow' } }
      return { behavior: { type: 'rejectContent', message: messageOf(decision) } }
    },
  }
  const others = (tool.inputGuardrails ?? []).map(
    (guardrail): Guardrail => ({
      ...guardrail,
      async run(data) {
        const { toolCall } = data
        const { input } = await ask(data.context, toolCall.callId, toolCall.arguments)
        // They check what will run.
        return guardrail.run(input === undefined ? data : { ...data, toolCall: rewritten(toolCall, input) })
      },
    }),
  )

  const invoke: Invoke = async (context, text, details) => {
    const callId = details?.toolCall?.callId ?? ''
    const decision = await ask(context, callId, text)
    gate.forget(context, callId)
    const refusal = refusalIn(decision, context, { name, callId })
    if (refusal !== undefined) throw blocked(refusal)
    const { input: rewrittenInput } = decision
    const input = rewrittenInput === undefined ? parsed(text) : toolInputFrom(rewrittenInput, parsed(text))
    const call = { tool_name: name, tool_input: inputRecord(input), tool_use_id: callId }
    const about = aboutCall(callId)
    const since = systemClock.elapsed()
    const failed = async (error: string): Promise<readonly string[]> => {
      const is_interrupt = details?.signal?.aborted ?? false
      const after = await agentHooks.transform(
        'post_tool_use_failure',
        { ...call, error, is_interrupt },
        about,
      )
      return after.context ?? []
    }
    let result: unknown
    try {
      result = await tool.invoke(
        context,
        rewrittenInput === undefined ? text : JSON.stringify(input),
        details,
      )
    } catch (thrown) {
      await failed(errorText(thrown))
      throw thrown
    }
    const before = decision.context ?? []
    if (typeof result === 'string' && result.startsWith(FAILED))
      return noted(result, [...before, ...(await failed(result))])
    const duration_ms = Math.round(systemClock.elapsed() - since)
    const after = await agentHooks.transform(
      'post_tool_use',
      { ...call, tool_response: result, duration_ms },
      about,
    )
    const changed = after.input === undefined ? result : structuredClone(after.input)
    const notes = [...before, ...(after.context ?? [])]
    if (tool.outputSchema === undefined || notes.length === 0) return noted(changed, notes)
    agentHooks.log('agent.undelivered', {
      event: 'post_tool_use',
      reason: `${name} has a schema for its output`,
    })
    return changed
  }

  return copyWith(tool, { needsApproval, inputGuardrails: [gatekeeper, ...others], invoke })
}

/** Whoever calls a tool past the runner has asked nobody. */
function refusalIn(
  decision: Decision,
  context: RunContext,
  { name, callId }: { name: string; callId: string },
): string | undefined {
  if (decision.kind !== 'ask') return refusalOf(decision)
  return context.isToolApproved({ toolName: name, callId }) === true ? undefined : refusalOf(decision)
}

function rewritten<T extends { readonly arguments: string }>(call: T, input: unknown): T {
  return { ...call, arguments: JSON.stringify(toolInputFrom(input, parsed(call.arguments))) }
}

/** The result with what hooks have to say about it. */
function noted(result: unknown, context: readonly string[]): unknown {
  if (context.length === 0) return result
  const notes = context.join('\n')
  if (isRecord(result) && result.type === 'text' && typeof result.text === 'string')
    return { ...result, text: `${result.text}\n\n${notes}` }
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return `${text}\n\n${notes}`
}
