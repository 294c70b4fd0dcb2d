import { flag, list, number, object, oneOf, optional, record, shape, text } from '../../core/check.ts'
import { defineEvent, field } from '../../core/event.ts'
import { first } from '../../core/merge.ts'
import { mergeAgentRun, readAgentRun } from './merge/agent-run.ts'
import { mergeFinalize } from './merge/finalize.ts'
import type { ReplyPayload } from './message-parts.ts'
import { modelFields, promptFields } from './prompt.ts'

export interface FinalizeRetry {
  readonly instruction: string
  readonly idempotencyKey?: string
  readonly maxAttempts?: number
}

export const agentRows = {
  before_agent_start: defineEvent({
    about:
      'An agent is about to start; the older form of before_model_resolve and before_prompt_build in one.',
    mode: 'transform',
    payload: shape({ prompt: text, runId: optional(text), messages: optional(list()) }),
    fields: { ...promptFields, ...modelFields },
  }),
  before_agent_run: defineEvent({
    about: 'Session and workspace are ready, the prompt has not reached the model yet.',
    mode: 'gate',
    payload: shape({
      prompt: text,
      messages: list(),
      systemPrompt: optional(text),
      accountId: optional(text),
      channelId: optional(text),
      senderId: optional(text),
      senderIsOwner: optional(flag),
    }),
    fields: {
      outcome: field(oneOf('pass', 'block'), first),
      reason: field(text, first),
      message: field(text, first),
      category: field(text, first),
      metadata: field(record, first),
    },
    subject: 'channelId',
    merge: mergeAgentRun,
    verdict: readAgentRun,
  }),
  before_agent_reply: defineEvent({
    about: 'A message is about to be answered by the agent; a hook may answer instead.',
    mode: 'claim',
    payload: shape({ cleanedBody: text }),
    fields: { reply: field(object<ReplyPayload>(), first), reason: field(text, first) },
  }),
  before_agent_finalize: defineEvent({
    about: 'The agent has a final answer; a hook may ask for one more pass.',
    mode: 'transform',
    payload: shape({
      runId: optional(text),
      sessionId: text,
      sessionKey: optional(text),
      turnId: optional(text),
      provider: optional(text),
      model: optional(text),
      cwd: optional(text),
      transcriptPath: optional(text),
      stopHookActive: flag,
      lastAssistantMessage: optional(text),
      messages: optional(list()),
    }),
    fields: {
      action: field(oneOf('continue', 'revise', 'finalize'), first),
      reason: field(text, first),
      retry: field(object<FinalizeRetry>(), first),
    },
    subject: 'model',
    merge: mergeFinalize,
  }),
  agent_end: defineEvent({
    about: 'An agent run has ended, well or not.',
    mode: 'observe',
    payload: shape({
      runId: optional(text),
      messages: list(),
      success: flag,
      error: optional(text),
      durationMs: optional(number),
    }),
  }),
}
