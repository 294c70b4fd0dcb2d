import { ToolMessage } from '@langchain/core/messages'
import { type AgentMiddleware, type ToolCallRequest, ToolInvocationError } from 'langchain'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type AgentHooks, type HookCallOptions, messageOf, refusalOf } from '../agent-hooks.ts'
import { cloneForHooks, copyWith } from '../clone-for-hooks.ts'
import { askTool, startTool } from '../tool-call.ts'
import { appendText, withFields } from './messages.ts'

/** The result of a tool call: a message, or a command to the graph. */
type ToolCallOutcome = Awaited<ReturnType<NonNullable<AgentMiddleware['wrapToolCall']>>>
type Handler = (request: ToolCallRequest) => ToolCallOutcome | Promise<ToolCallOutcome>

/** Runs one tool call with its hooks. */
export async function guardToolCall(
  agentHooks: AgentHooks,
  request: ToolCallRequest,
  { handler, about, asks }: { handler: Handler; about: HookCallOptions; asks: boolean },
): Promise<ToolCallOutcome> {
  const { toolCall, runtime } = request
  const { id, name, args } = toolCall
  const decision = await askTool(agentHooks, { name, id, input: args, about })
  const { input: changed, context: before = [] } = decision
  const input: Record<string, unknown> = isRecord(changed) ? cloneForHooks(changed) : args
  const refusal =
    asks && decision.kind === 'ask' ? askPerson(runtime, name, input, decision) : refusalOf(decision)
  if (refusal !== undefined) return errorMessage(toolCall, refusal)

  const started = startTool(agentHooks, { name, id, input, about })
  let outcome: ToolCallOutcome
  try {
    outcome = await handler({ ...request, toolCall: { ...toolCall, args: input } })
  } catch (thrown) {
    if (isControlFlow(thrown) || about.signal?.aborted) throw thrown
    const context = await started.failed(errorText(thrown))
    // LangChain's own text for a failed tool without middleware.
    const text = ToolInvocationError.isInstance(thrown)
      ? thrown.message
      : `${thrown}\n Please fix your mistakes.`
    return errorMessage(toolCall, [text, ...context].join('\n\n'))
  }
  return mapToolMessage(outcome, id, async (message) => {
    const { status, content } = message
    if (status === 'error') return appendContext(message, [...before, ...(await started.failed(content))])
    const { result, context } = await started.done(content)
    const replaced = result === content ? message : withFields(message, { content: contentOf(result) })
    return appendContext(replaced, [...before, ...context])
  })
}

/** Uses the format of LangChain's human-in-the-loop middleware, so that the same user interface can answer. */
function askPerson(
  { interrupt }: ToolCallRequest['runtime'],
  name: string,
  args: Readonly<Record<string, unknown>>,
  decision: Decision,
): string | undefined {
  if (interrupt === undefined) return refusalOf(decision)
  const answer: unknown = interrupt({
    actionRequests: [{ name, args, description: messageOf(decision) }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
  })
  const decisions = isRecord(answer) ? answer.decisions : undefined
  const first: unknown = Array.isArray(decisions) ? decisions[0] : undefined
  if (isRecord(first) && first.type === 'approve') return undefined
  return isRecord(first) && typeof first.message === 'string'
    ? first.message
    : `refused: ${messageOf(decision)}`
}

function errorMessage({ id = '', name }: ToolCallRequest['toolCall'], content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: id, name, status: 'error' })
}

function appendContext(message: ToolMessage, context: readonly string[]): ToolMessage {
  if (context.length === 0) return message
  return withFields(message, { content: appendText(message.content, context.join('\n')) })
}

/** The content of a tool message: text or blocks. */
function contentOf(result: unknown): unknown {
  return typeof result === 'string' || Array.isArray(result) ? result : JSON.stringify(result)
}

/** Changes the message of the tool, also inside a command to the graph. */
async function mapToolMessage(
  outcome: ToolCallOutcome,
  id: string | undefined,
  change: (message: ToolMessage) => Promise<ToolMessage>,
): Promise<ToolCallOutcome> {
  if (ToolMessage.isInstance(outcome)) return change(outcome)
  const { update } = outcome
  if (!isRecord(update) || !Array.isArray(update.messages)) return outcome
  const messages = await Promise.all(
    update.messages.map((message: unknown) =>
      ToolMessage.isInstance(message) && message.tool_call_id === id ? change(message) : message,
    ),
  )
  return copyWith(outcome, { update: { ...update, messages } })
}

/** An interrupt, or a command to a parent graph. Neither is a failure of the tool. */
function isControlFlow(thrown: unknown): boolean {
  return isRecord(thrown) && thrown.is_bubble_up === true
}
