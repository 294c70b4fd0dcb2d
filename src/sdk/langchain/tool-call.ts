import { ToolMessage } from '@langchain/core/messages'
import { type AgentMiddleware, type ToolCallRequest, ToolInvocationError } from 'langchain'
import { isRecord } from '../../engine/core/check.ts'
import { systemClock } from '../../engine/core/clock.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/error.ts'
import { type AgentHooks, type HookCallOptions, messageOf, refusalOf } from '../agent-hooks.ts'
import { cloneForHooks, copyWith } from '../clone-for-hooks.ts'
import { appendText, withFields } from './messages.ts'

/** The result of a tool call: a message, or a command to the graph. */
type ToolCallOutcome = Awaited<ReturnType<NonNullable<AgentMiddleware['wrapToolCall']>>>
type Handler = (request: ToolCallRequest) => ToolCallOutcome | Promise<ToolCallOutcome>

interface Call {
  readonly tool_name: string
  readonly tool_input: Readonly<Record<string, unknown>>
  readonly tool_use_id?: string
}

/** Runs one tool call with its hooks. */
export async function guardToolCall(
  agentHooks: AgentHooks,
  request: ToolCallRequest,
  { handler, about, asks }: { handler: Handler; about: HookCallOptions; asks: boolean },
): Promise<ToolCallOutcome> {
  const { toolCall, runtime } = request
  const { id, name, args } = toolCall
  const identity = id === undefined ? {} : { tool_use_id: id }
  const callAbout: HookCallOptions = {
    ...about,
    envelope: { ...about.envelope, ...(id === undefined ? {} : { toolCall: id }) },
  }
  const decision = await agentHooks.gate(
    'pre_tool_use',
    { tool_name: name, tool_input: args, ...identity },
    callAbout,
  )
  const { input: changed } = decision
  const input: Record<string, unknown> = isRecord(changed) ? cloneForHooks(changed) : args
  const refusal =
    asks && decision.kind === 'ask' ? askPerson(runtime, name, input, decision) : refusalOf(decision)
  if (refusal !== undefined) return errorMessage(toolCall, refusal)

  const call: Call = { tool_name: name, tool_input: input, ...identity }
  const since = systemClock.elapsed()
  let outcome: ToolCallOutcome
  try {
    outcome = await handler({ ...request, toolCall: { ...toolCall, args: input } })
  } catch (thrown) {
    if (isControlFlow(thrown) || about.signal?.aborted) throw thrown
    const context = await dispatchFailure(agentHooks, call, errorText(thrown), callAbout)
    // LangChain's own text for a failed tool without middleware.
    const text = ToolInvocationError.isInstance(thrown)
      ? thrown.message
      : `${thrown}\n Please fix your mistakes.`
    return errorMessage(toolCall, [text, ...context].join('\n\n'))
  }
  const context = decision.context ?? []
  return mapToolMessage(outcome, id, async (message) => {
    if (message.status === 'error')
      return appendContext(message, [
        ...context,
        ...(await dispatchFailure(agentHooks, call, message.content, callAbout)),
      ])
    const duration_ms = Math.round(systemClock.elapsed() - since)
    const payload = { ...call, tool_response: message.content, duration_ms }
    const after = await agentHooks.transform('post_tool_use', payload, callAbout)
    const changed =
      after.input === undefined ? message : withFields(message, { content: contentOf(after.input) })
    return appendContext(changed, [...context, ...(after.context ?? [])])
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

async function dispatchFailure(
  agentHooks: AgentHooks,
  call: Call,
  error: unknown,
  about: HookCallOptions,
): Promise<readonly string[]> {
  const { context = [] } = await agentHooks.transform('post_tool_use_failure', { ...call, error }, about)
  return context
}

function errorMessage({ id = '', name }: ToolCallRequest['toolCall'], content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: id, name, status: 'error' })
}

function appendContext(message: ToolMessage, context: readonly string[]): ToolMessage {
  if (context.length === 0) return message
  return withFields(message, { content: appendText(message.content, context.join('\n')) })
}

/** The content of a tool message: text or blocks. */
function contentOf(input: unknown): unknown {
  return typeof input === 'string' || Array.isArray(input) ? structuredClone(input) : JSON.stringify(input)
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
