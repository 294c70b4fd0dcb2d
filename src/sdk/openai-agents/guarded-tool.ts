import type { ApplyPatchTool, ComputerTool, FunctionTool, RunContext, ShellTool } from '@openai/agents'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type AgentHooks, blocked, messageOf, refusalOf } from '../agent-hooks.ts'
import { copyWith } from '../clone-for-hooks.ts'
import { decidedInput, startTool } from '../tool-call.ts'
import { type AgentsToolGate, parseArguments } from './tool-gate.ts'

type Guardrail = NonNullable<FunctionTool['inputGuardrails']>[number]

/** The SDK's default text for a failed tool. */
const DEFAULT_FAILURE = 'An error occurred while running the tool.'

/** Wraps a function tool: hooks decide before it runs and see its result. */
export function guardedFunction(
  tool: FunctionTool,
  { agentHooks, gate }: { readonly agentHooks: AgentHooks; readonly gate: AgentsToolGate },
): FunctionTool {
  const { name } = tool
  const ask: AskCall = (context, callId, text) =>
    gate.ask(context, { name, callId, input: parseArguments(text) })

  const needsApproval: FunctionTool['needsApproval'] = async (context, input, callId = '') => {
    const decision = await gate.ask(context, { name, callId, input })
    // The guardrail refuses a blocked call with a message for the model.
    if (decision.kind === 'block' || decision.grant === true) return false
    const wanted = decidedInput(decision, input)
    const needed = decision.kind === 'ask' || (await tool.needsApproval(context, wanted as never, callId))
    if (needed) gate.forget(context, callId)
    return needed
  }

  const invoke: FunctionTool['invoke'] = async (context, text, details) => {
    const callId = details?.toolCall?.callId ?? ''
    const decision = await ask(context, callId, text)
    gate.forget(context, callId)
    const refusal = refusalIn(decision, context, { name, callId })
    if (refusal !== undefined) throw blocked(refusal)
    const input = decidedInput(decision, parseArguments(text))
    const started = startTool(agentHooks, { name, id: callId, input })
    const failed = (error: string) => started.failed(error, details?.signal?.aborted ?? false)
    let result: unknown
    try {
      const sent = decision.input === undefined ? text : JSON.stringify(input)
      result = await tool.invoke(context, sent, details)
    } catch (thrown) {
      await failed(errorText(thrown))
      throw thrown
    }
    const before = decision.context ?? []
    if (typeof result === 'string' && result.startsWith(DEFAULT_FAILURE))
      return appendContext(result, [...before, ...(await failed(result))])
    const after = await started.done(result)
    const notes = [...before, ...after.context]
    if (tool.outputSchema === undefined || notes.length === 0) return appendContext(after.result, notes)
    agentHooks.log('agent.undelivered', {
      event: 'post_tool_use',
      reason: `${name} has a schema for its output`,
    })
    return after.result
  }

  return copyWith(tool, { needsApproval, inputGuardrails: hookedGuardrails(tool, ask), invoke })
}

type AskCall = (context: RunContext, callId: string, text: string) => Promise<Decision>

/** The hooks, and the program's guardrails, which check the changed input. */
function hookedGuardrails({ inputGuardrails = [] }: FunctionTool, ask: AskCall): readonly Guardrail[] {
  const hooks: Guardrail = {
    type: 'tool_input',
    name: 'hookhelm',
    async run({ context, toolCall }) {
      const decision = await ask(context, toolCall.callId, toolCall.arguments)
      // A guardrail runs only after the approval, so `ask` has been answered.
      if (decision.kind !== 'block') return { behavior: { type: 'allow' } }
      return { behavior: { type: 'rejectContent', message: messageOf(decision) } }
    },
  }
  const others = inputGuardrails.map(
    (guardrail): Guardrail => ({
      ...guardrail,
      async run(data) {
        const { context, toolCall } = data
        const decision = await ask(context, toolCall.callId, toolCall.arguments)
        if (decision.input === undefined) return guardrail.run(data)
        const changed = JSON.stringify(decidedInput(decision, parseArguments(toolCall.arguments)))
        return guardrail.run({ ...data, toolCall: { ...toolCall, arguments: changed } })
      },
    }),
  )
  return [hooks, ...others]
}

/** A tool that is called without the runner had no approval. */
function refusalIn(
  decision: Decision,
  context: RunContext,
  { name, callId }: { name: string; callId: string },
): string | undefined {
  if (decision.kind !== 'ask') return refusalOf(decision)
  return context.isToolApproved({ toolName: name, callId }) === true ? undefined : refusalOf(decision)
}

/** Appends the context of hooks to a result. */
function appendContext(result: unknown, context: readonly string[]): unknown {
  if (context.length === 0) return result
  const notes = context.join('\n')
  if (isRecord(result) && result.type === 'text' && typeof result.text === 'string')
    return { ...result, text: `${result.text}\n\n${notes}` }
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return `${text}\n\n${notes}`
}

type ActionTool = ShellTool | ApplyPatchTool | ComputerTool
type NeedsApproval = (context: RunContext, action: unknown, callId?: string) => Promise<boolean>
type OnApproval = (context: RunContext, item: unknown) => Promise<{ approve?: boolean; reason?: string }>

/** Wraps the shell, patch and computer tools. Hooks can block them or ask, but cannot change their input. */
export function guardedAction<T extends ActionTool>(tool: T, gate: AgentsToolGate): T {
  const { name } = tool
  const own = tool as { readonly needsApproval?: unknown; readonly onApproval?: OnApproval }
  const refusals = new WeakMap<RunContext, Map<string, string>>()
  const canRefuse = tool.type === 'shell' || tool.type === 'apply_patch'

  const needsApproval: NeedsApproval = async (context, action, callId = '') => {
    const decision = await gate.ask(context, { name, callId, input: action })
    const refusal = actionRefusal(decision)
    if (refusal !== undefined) {
      // The computer tool cannot refuse one call, so the error ends the run.
      if (!canRefuse) throw blocked(refusal)
      refusals.set(context, (refusals.get(context) ?? new Map()).set(callId, refusal))
      return true
    }
    if (decision.kind === 'ask') return true
    if (decision.grant === true) return false
    return typeof own.needsApproval === 'function'
      ? own.needsApproval(context, action, callId)
      : own.needsApproval === true
  }
  const onApproval: OnApproval = async (context, item) => {
    const reason = refusals.get(context)?.get(callIdOf(item))
    if (reason !== undefined) return { approve: false, reason }
    return (await own.onApproval?.(context, item)) ?? {}
  }
  return copyWith(tool, { needsApproval, ...(canRefuse ? { onApproval } : {}) })
}

function actionRefusal(decision: Decision): string | undefined {
  if (decision.kind === 'block') return messageOf(decision)
  if (decision.input !== undefined)
    return `a hook changed this, and the change cannot be delivered: ${messageOf(decision)}`
  return undefined
}

function callIdOf(item: unknown): string {
  const raw = isRecord(item) ? item.rawItem : undefined
  const id = isRecord(raw) ? (raw.callId ?? raw.id) : undefined
  return typeof id === 'string' ? id : ''
}
