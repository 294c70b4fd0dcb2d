import type { GenericToolApprovalFunction, ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from 'ai'
import { blocked } from '../agent-hooks.ts'
import { type AiToolGate, type AnyTool, validateWith } from './tool-gate.ts'

/** What the SDK passes to an approval function. */
type ApprovalInput = Parameters<GenericToolApprovalFunction<ToolSet, never, unknown>>[0]
export type OwnApproval = ToolApprovalConfiguration<ToolSet, never>

type Status = Exclude<ToolApprovalStatus, string | undefined>

interface ApprovalContext {
  readonly gate: AiToolGate
  readonly own: OwnApproval | undefined
  readonly isGuarded: (tool: AnyTool) => boolean
}

/** Asks the hooks, then applies the program's own rules. A hook cannot allow what these deny. */
export async function resolveApproval(
  call: ApprovalInput,
  { gate, own, isGuarded }: ApprovalContext,
): Promise<ToolApprovalStatus> {
  const { toolCall } = call
  const tool = toolNamed(call.tools, toolCall.toolName)
  // The provider has already run it.
  if (toolCall.providerExecuted) return ownStatus(own, call, tool)
  const { toolName, toolCallId, input } = toolCall
  const takesRewrite = tool !== undefined && isGuarded(tool)
  const decision = await gate.ask({
    toolName,
    toolCallId,
    input,
    tool,
    takesRewrite,
    messages: call.messages,
  })
  if (decision.kind === 'block') return { type: 'denied', reason: decision.message }

  const changed = decision.input !== input
  const status = await ownStatus(own, { ...call, toolCall: { ...toolCall, input: decision.input } }, tool)
  if (status.type === 'denied') return status
  gate.store(input, decision)
  if (decision.kind === 'ask') {
    // The approval request shows the model's input, so the reason shows the changed one.
    const instead = changed ? ` (runs with ${JSON.stringify(decision.input)})` : ''
    return { type: 'user-approval', reason: `${decision.message}${instead}` }
  }
  return decision.grant ? { type: 'approved', reason: decision.message } : status
}

/** Follows the order of the SDK: the program's function, its table, then the tool's own setting. */
async function ownStatus(
  own: OwnApproval | undefined,
  call: ApprovalInput,
  tool: AnyTool | undefined,
): Promise<Status> {
  if (typeof own === 'function') return statusOf(await own(call as never))
  const { toolCall, messages, runtimeContext } = call
  const { toolName, toolCallId, input } = toolCall
  const listed = own !== undefined && Object.hasOwn(own, toolName) ? own[toolName] : undefined
  if (listed !== undefined && typeof listed !== 'function') return statusOf(listed)
  if (listed === undefined && typeof tool?.needsApproval !== 'function')
    return { type: tool?.needsApproval === true ? 'user-approval' : 'not-applicable' }
  const context = await contextOf(call, tool)
  if (listed !== undefined) {
    const options = { toolCallId, messages, toolContext: context, runtimeContext }
    return statusOf(await listed(input as never, options as never))
  }
  const needs = await askTool(tool, input, { toolCallId, messages, context })
  return { type: needs ? 'user-approval' : 'not-applicable' }
}

async function askTool(tool: AnyTool | undefined, input: unknown, options: unknown): Promise<boolean> {
  if (typeof tool?.needsApproval !== 'function') return false
  return tool.needsApproval(input as never, options as never)
}

async function contextOf(
  { toolCall, toolsContext }: ApprovalInput,
  tool: AnyTool | undefined,
): Promise<unknown> {
  const all: Readonly<Record<string, unknown>> = toolsContext ?? {}
  const context = Object.hasOwn(all, toolCall.toolName) ? all[toolCall.toolName] : undefined
  const checked = await validateWith(tool?.contextSchema, context)
  if ('error' in checked)
    throw blocked(`the context of ${toolCall.toolName} does not match its schema: ${checked.error}`)
  return checked.value
}

function statusOf(status: ToolApprovalStatus): Status {
  if (status === undefined) return { type: 'not-applicable' }
  return typeof status === 'string' ? { type: status } : status
}

/** The model chooses the name, so inherited properties must not count as tools. */
function toolNamed(tools: ToolSet | undefined, name: string): AnyTool | undefined {
  return tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
}
