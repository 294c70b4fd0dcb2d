import { defineEvent, field, type MergeResults, type ReadVerdict } from '../../core/event.ts'
import { first, last, sticky } from '../../core/merge.ts'
import {
  anything,
  flag,
  isRecord,
  number,
  object,
  optional,
  record,
  shape,
  text,
} from '../../core/schema/check.ts'
import { type AgentMessage, transcriptLine } from './message-parts.ts'

type ApprovalResolution = 'allow-once' | 'allow-always' | 'deny' | 'timeout' | 'cancelled'

/** A tool call that a person must approve first. */
export interface ApprovalRequest {
  readonly title: string
  readonly description: string
  readonly severity?: 'info' | 'warning' | 'critical'
  readonly timeoutMs?: number
  readonly timeoutBehavior?: 'allow' | 'deny'
  readonly allowedDecisions?: Array<'allow-once' | 'allow-always' | 'deny'>
  /** Set by the runner, whatever the plugin wrote. */
  readonly pluginId?: string
  readonly onResolution?: (resolution: ApprovalResolution) => Promise<void> | void
}

/**
 * The first approval request wins and gets the id of its plugin. From then on only that plugin may change the params, so
 * that a person approves what will run.
 */
const mergeToolCall: MergeResults = (before, next, by) => {
  const asked = before?.requireApproval
  const requestedBy = isRecord(asked) ? asked.pluginId : undefined
  const frozen = Boolean(requestedBy) && requestedBy !== by
  return {
    params: frozen ? before?.params : last.merge(before?.params, next.params),
    block: sticky.merge(before?.block, next.block),
    blockReason: last.merge(before?.blockReason, next.blockReason),
    requireApproval: asked ?? withPluginId(next.requireApproval, by),
  }
}

/** A block beats an approval request that came before it. */
const readToolCall: ReadVerdict = (result) => {
  const asked = result.requireApproval
  if (result.block)
    return { kind: 'block', reason: textOr(result.blockReason, 'a hook blocked this tool call') }
  if (!isRecord(asked)) return undefined
  const reason = textOr(asked.title, 'a hook asks for approval')
  return { kind: 'ask', reason, message: textOr(asked.description, reason) }
}

function withPluginId(request: unknown, pluginId: string): object | undefined {
  return request ? Object.assign({}, request, { pluginId }) : undefined
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value ? value : otherwise
}

const toolCall = { toolName: text, params: record, runId: optional(text), toolCallId: optional(text) }

export const toolRows = {
  before_tool_call: defineEvent({
    about: 'A tool is about to be called.',
    mode: 'gate',
    payload: shape(toolCall),
    fields: {
      params: field(record, last),
      block: field(flag, sticky),
      blockReason: field(text, last),
      requireApproval: field(object<ApprovalRequest>(), first),
    },
    merge: mergeToolCall,
    verdict: readToolCall,
    subject: 'toolName',
  }),
  after_tool_call: defineEvent({
    about: 'A tool was called.',
    mode: 'observe',
    payload: shape({ ...toolCall, result: anything, error: optional(text), durationMs: optional(number) }),
    subject: 'toolName',
  }),
  tool_result_persist: defineEvent({
    about: 'A tool result is about to be written to the transcript; nothing can wait here.',
    mode: 'transform',
    sync: true,
    payload: transcriptLine<'message' | 'toolName' | 'toolCallId' | 'isSynthetic'>(),
    rewrites: 'message',
    fields: { message: field(object<AgentMessage>(), last) },
    subject: 'toolName',
  }),
}
