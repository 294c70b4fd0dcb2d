import type { GenericToolApprovalFunction, ToolApprovalConfiguration, ToolApprovalStatus, ToolSet } from 'ai'
import { blocked } from '../refusal.ts'
import { type AiToolGate, type AnyTool, validated } from './tool-gate.ts'

/** What the SDK passes to an approval function. */
type Approvable = Parameters<GenericToolApprovalFunction<ToolSet, never, unknown>>[0]
export type OwnApproval = ToolApprovalConfiguration<ToolSet, never>

type Status = Exclude<ToolApprovalStatus, string | undefined>

interface Means {
  readonly gate: AiToolGate
  readonly own: OwnApproval | undefined
  readonly isGuarded: (tool: AnyTool) => boolean
}

/** The hooks first, then the program's own rules, which they cannot loosen: what these deny stays denied. */
export async function approve(
  call: Approvable,
  { gate, own, isGuarded }: Means,
): Promise<ToolApprovalStatus> {
  const { toolCall } = call
  const tool = toolNamed(call.tools, toolCall.toolName)
  // It has run already, at the provider.
  if (toolCall.providerExecuted) return ownStatus(own, call, tool)
  const { toolName, toolCallId, input } = toolCall
  const takesRewrite = tool !== undefined && isGuarded(tool)
  const verdict = await gate.ask({ toolName, toolCallId, input, tool, takesRewrite, messages: call.messages })
  if (verdict.kind === 'block') return { type: 'denied', reason: verdict.message }

  const changed = verdict.input !== input
  const status = await ownStatus(own, { ...call, toolCall: { ...toolCall, input: verdict.input } }, tool)
  if (status.type === 'denied') return status
  gate.leave(input, verdict)
  if (verdict.kind === 'ask') {
    // The request shows the input that the model wrote, so the one that would run stands in the reason.
    const instead = changed ? ` (runs with ${JSON.stringify(verdict.input)})` : ''
    return { type: 'user-approval', reason: `${verdict.message}${instead}` }
  }
  return verdict.grant ? { type: 'approved', reason: verdict.message } : status
}

/** As the SDK itself would have it: the program's function, its table, then what the tool says. */
async function ownStatus(
  own: OwnApproval | undefined,
  call: Approvable,
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
    const given = { toolCallId, messages, toolContext: context, runtimeContext }
    return statusOf(await listed(input as never, given as never))
  }
  const needs = await askTool(tool, input, { toolCallId, messages, context })
  return { type: needs ? 'user-approval' : 'not-applicable' }
}

async function askTool(tool: AnyTool | undefined, input: unknown, options: unknown): Promise<boolean> {
  if (typeof tool?.needsApproval !== 'function') return false
  return tool.needsApproval(input as never, options as never)
}

async function contextOf(
  { toolCall, toolsContext }: Approvable,
  tool: AnyTool | undefined,
): Promise<unknown> {
  const all: Readonly<Record<string, unknown>> = toolsContext ?? {}
  const context = Object.hasOwn(all, toolCall.toolName) ? all[toolCall.toolName] : undefined
  const checked = await validated(tool?.contextSchema, context)
  if ('error' in checked)
    throw blocked(`the context of ${toolCall.toolName} is not what it wants: ${checked.error}`)
  return checked.value
}

function statusOf(status: ToolApprovalStatus): Status {
  if (status === undefined) return { type: 'not-applicable' }
  return typeof status === 'string' ? { type: status } : status
}

/** A name can be the model's own; only what the program put there counts. */
function toolNamed(tools: ToolSet | undefined, name: string): AnyTool | undefined {
  return tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
}
