import { randomUUID } from 'node:crypto'
import type { Envelope } from '../engine/core/context.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { ApprovalRequests } from './approval-requests.ts'
import {
  type ApprovalStates,
  type CallBinding,
  inputRequiredResult,
  isProxyState,
  type PausedCall,
  readApproval,
} from './approval-states.ts'
import type { CallDecision, CallGate } from './call-gate.ts'
import type { MessageDisposition } from './messages/assemble-packet.ts'
import {
  type RpcMessage,
  rpcCodes,
  rpcErrorText,
  rpcResultText,
  type ToolCallItem,
} from './messages/packet.ts'
import { type McpClientInfo, metaKeys } from './messages/request-envelope.ts'
import type { ToolHeaders } from './messages/tool-headers.ts'
import type { McpToolCall } from './pending-requests.ts'
import { errorResult } from './tool-result.ts'

/** Well below the minute that most clients wait for a sign of life. */
const PROGRESS_MS = 3_000

/** The connection to the client while its packet waits for the hooks. */
export interface ClientChannel {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Sends the client a message of our own. Missing if the connection cannot carry one. */
  readonly send?: (text: string) => void
  /** Sends the server a request of our own. Its response goes to the session. */
  readonly sendToServer?: (text: string) => void
  /** Who the client is beyond what it says about itself: a hash of its credentials. */
  readonly principal?: string
}

/** What the decision about a tool call needs to know about its session. */
export interface ToolCallContext {
  /** The tool's name in events. */
  readonly tool: string
  /** Why the call is blocked before any hook sees it. */
  readonly blocked: string | undefined
  readonly caller: McpClientInfo
  envelope(useId: string): Envelope
  readonly gate: CallGate
  readonly clock: Clock
  readonly states: ApprovalStates
  readonly approvals: ApprovalRequests
  readonly toolHeaders: ToolHeaders
  readonly channel: ClientChannel
}

/** Asks the hooks, and a person if a hook wants that. Returns what happens to the call. */
export async function decideToolCall(
  item: ToolCallItem,
  context: ToolCallContext,
): Promise<MessageDisposition> {
  if (context.blocked !== undefined) return blockedCall(item, context.blocked)
  const { requestState, inputResponses } = item.params
  if (item.envelope !== undefined && isProxyState(requestState))
    return resumeCall(item, requestState, context)
  const useId = useIdOf(item.params)
  const { tool, gate, channel } = context
  const call = { tool, input: item.input, useId }
  const mayWait = !context.caller.canAsk
  const endProgress = mayWait ? reportProgress(item, context) : () => {}
  const decision = await gate
    .before(call, context.envelope(useId), { signal: channel.signal, mayWait })
    .finally(endProgress)
  const paused: PausedCall = {
    decision,
    useId,
    isApproved: false,
    forServer: { requestState, inputResponses },
  }
  if (decision.kind === 'block') return blockedCall(item, decision.text)
  if (decision.kind === 'allow') return forwardCall(item, paused, context)
  if (!context.caller.canAsk) return blockedCall(item, cannotAsk(decision.text))
  return item.envelope === undefined ? askNow(item, paused, context) : askLater(item, paused, context)
}

/** A client that waits for progress does not give up while a person decides. Returns what ends the reports. */
function reportProgress({ params }: ToolCallItem, { channel, clock }: ToolCallContext): () => void {
  const { progressToken } = isRecord(params._meta) ? params._meta : {}
  const { send } = channel
  if (send === undefined || (typeof progressToken !== 'string' && typeof progressToken !== 'number'))
    return () => {}
  let progress = 0
  const ticker = clock.every(PROGRESS_MS, () => {
    progress += 1
    const told = { progressToken, progress, message: 'waits for a decision of the hooks' }
    send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: told }))
  })
  return () => ticker.stop()
}

/** Revisions before 2026-07-28: the proxy sends the client a request of its own. */
async function askNow(
  item: ToolCallItem,
  paused: PausedCall,
  context: ToolCallContext,
): Promise<MessageDisposition> {
  const { send, signal } = context.channel
  const { text, input = item.input } = paused.decision
  if (send === undefined) return blockedCall(item, cannotAsk(text))
  const agreed = await context.approvals.ask({ text, tool: context.tool, input }, send, signal)
  return agreed ? forwardCall(item, paused, context) : blockedCall(item, notApproved(text))
}

/** From revision 2026-07-28 on: the proxy answers with the question, and the client sends the call again. */
function askLater(item: ToolCallItem, paused: PausedCall, context: ToolCallContext): MessageDisposition {
  const { text, input = item.input } = paused.decision
  const state = context.states.issue(bindingOf(item, context), paused)
  const result = inputRequiredResult({ text, tool: context.tool, input }, state)
  return { kind: 'drop', answer: rpcResultText(item.id, result) }
}

/** The client sends a call again with a state of the proxy. The hooks decided about it before. */
function resumeCall(item: ToolCallItem, state: string, context: ToolCallContext): MessageDisposition {
  const paused = context.states.redeem(state, bindingOf(item, context))
  if (typeof paused === 'string') {
    const why = `requestState is refused: ${paused}`
    return { kind: 'drop', answer: rpcErrorText(item.id, rpcCodes.invalidParams, why) }
  }
  const { inputResponses } = item.params
  const { requestState } = paused.forServer
  if (paused.isApproved)
    return forwardCall(item, { ...paused, forServer: { requestState, inputResponses } }, context)
  const answer = readApproval(inputResponses)
  if (answer === undefined) return askLater(item, paused, context)
  if (answer === 'refuse') return blockedCall(item, notApproved(paused.decision.text))
  return forwardCall(item, { ...paused, isApproved: true }, context)
}

function forwardCall(item: ToolCallItem, paused: PausedCall, context: ToolCallContext): MessageDisposition {
  const { id, key, message, params, envelope } = item
  const { decision, useId, forServer } = paused
  const { context: added, opened, input = item.input } = decision
  const call: McpToolCall = {
    kind: 'call',
    id,
    tool: context.tool,
    input,
    useId,
    began: context.clock.elapsed(),
    isTask: params.task !== undefined,
    request: envelope,
    envelope: context.envelope(useId),
    pause: (serverState) => pausedState(item, serverState, { paused, context }),
    context: added,
    ...definedFields({ opened }),
  }
  const isChanged =
    decision.input !== undefined ||
    params.requestState !== forServer.requestState ||
    params.inputResponses !== forServer.inputResponses
  if (!isChanged) return { kind: 'pass', key, call }
  const changed = { ...withoutStates(params), ...definedFields(forServer) }
  const sent = decision.input === undefined ? changed : { ...changed, arguments: input }
  const text = JSON.stringify({ ...message, params: sent })
  if (decision.input === undefined) return { kind: 'pass', key, call, text }
  return { kind: 'pass', key, call, text, headers: context.toolHeaders.changesFor(item.name, input) }
}

/** Wraps the server's state if a person approved the call, or if the server's state looks like one of a proxy. */
function pausedState(
  item: ToolCallItem,
  serverState: unknown,
  { paused, context }: { readonly paused: PausedCall; readonly context: ToolCallContext },
): string | undefined {
  if (!paused.isApproved && !isProxyState(serverState)) return undefined
  const forServer = { requestState: serverState }
  return context.states.issue(bindingOf(item, context), { ...paused, isApproved: true, forServer })
}

/** What identifies a call. Progress tokens and trace ids differ from request to request. */
function bindingOf(
  { name, input, params, envelope }: ToolCallItem,
  { tool, channel }: ToolCallContext,
): CallBinding {
  const client = envelope?.meta[metaKeys.clientInfo]
  const caller = JSON.stringify([
    isRecord(client) ? [client.name, client.version] : undefined,
    channel.principal,
  ])
  return { tool, name, input, task: params.task, caller }
}

function withoutStates({ requestState: _, inputResponses: __, ...params }: RpcMessage): RpcMessage {
  return params
}

/** The agent's own id of the call, if the client sends it. */
function useIdOf({ _meta: meta }: RpcMessage): string {
  const given = isRecord(meta) ? meta['claudecode/toolUseId'] : undefined
  return typeof given === 'string' && given !== '' && given.length <= 256 ? given : randomUUID()
}

function cannotAsk(text: CallDecision['text']): string {
  return `hookhelm: blocked: a person must approve this, and this client cannot ask: ${text}`
}

function notApproved(text: CallDecision['text']): string {
  return `hookhelm: blocked: the person did not approve: ${text}`
}

function blockedCall({ id, params, envelope }: ToolCallItem, text: string): MessageDisposition {
  // A client of an older revision that wants a task takes only a task or an error.
  if (params.task === undefined || envelope !== undefined)
    return { kind: 'drop', answer: rpcResultText(id, errorResult(text, envelope !== undefined)) }
  const error = { code: rpcCodes.blocked, message: text }
  return { kind: 'drop', answer: JSON.stringify({ jsonrpc: '2.0', id, error }) }
}
