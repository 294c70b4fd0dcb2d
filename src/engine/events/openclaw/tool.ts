import { anything, flag, number, object, optional, record, shape, text } from '../../core/check.ts'
import { defineEvent, field } from '../../core/event.ts'
import { first, last, sticky } from '../../core/merge.ts'
import { mergeToolCall, readToolCall } from './merge/tool-call.ts'
import type { AgentMessage } from './message-parts.ts'
import { transcriptLine } from './transcript-line.ts'

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
