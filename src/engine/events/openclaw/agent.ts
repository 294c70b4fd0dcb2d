import { defineEvent, field, type MergeResults, type ReadVerdict } from '../../core/event.ts'
import { first, join } from '../../core/merge.ts'
import {
  flag,
  isRecord,
  list,
  number,
  object,
  oneOf,
  optional,
  record,
  shape,
  text,
} from '../../core/schema/check.ts'
import {
  type HookDecision,
  isHookDecision,
  mergeHookDecisions,
  resolveBlockMessage,
} from './gate-decision.ts'
import type { ReplyPayload } from './message-parts.ts'
import { modelFields, promptEventFields } from './prompt.ts'

export interface FinalizeRetry {
  readonly instruction: string
  readonly idempotencyKey?: string
  readonly maxAttempts?: number
}

/** The strictest decision wins; a result that is not a decision, or that a later plugin spoiled, counts as a block. */
const mergeAgentRun: MergeResults = (before, next) =>
  mergeHookDecisions(before === undefined ? undefined : orBlock(before), orBlock(next))

function orBlock(result: Readonly<Record<string, unknown>>): HookDecision {
  if (isHookDecision(result)) return result
  return { outcome: 'block', reason: 'before_agent_run returned an invalid decision' }
}

const readAgentRun: ReadVerdict = (result) => {
  if (!isHookDecision(result)) return 'invalid'
  if (result.outcome === 'pass') return undefined
  // The user must never see the internal reason, so a block without a message gets a generic one.
  return { kind: 'block', reason: result.reason, message: resolveBlockMessage(result) }
}

type FinalizeResult = Parameters<MergeResults>[1]
type Retry = Readonly<Record<string, unknown>> & { readonly instruction: string }

/** Finalize beats revise, revise beats continue; two revisions become one with both instructions. */
const mergeFinalize: MergeResults = (before, next) => {
  if (before?.action === 'finalize') return before
  if (next.action === 'finalize') return { action: 'finalize', reason: next.reason }
  if (next.action === 'revise')
    return before?.action === 'revise' ? mergeRevisions(before, next) : oneRevision(next)
  if (before?.action === 'revise') return before
  return next.action === 'continue' ? { action: 'continue', reason: next.reason } : (before ?? next)
}

function oneRevision(answer: FinalizeResult): FinalizeResult {
  const [retry] = readRetries([answer.retry])
  return { action: 'revise', reason: answer.reason, ...(retry && { retry }) }
}

function mergeRevisions(before: FinalizeResult, next: FinalizeResult): FinalizeResult {
  const retries = [...retriesOf(before), ...retriesOf(next)]
  const [retry] = retries
  const merged = {
    action: 'revise',
    reason: join.merge(before.reason, next.reason),
    ...(retry && { retry }),
  }
  if (retries.length < 2) return merged
  // Not enumerable, so that a host that compares, copies or sends the answer sees only the one retry it knows.
  return Object.defineProperty(merged, 'retryCandidates', { configurable: true, value: retries })
}

function retriesOf(answer: FinalizeResult): readonly Retry[] {
  const listed = answer.retryCandidates
  return readRetries(Array.isArray(listed) && listed.length > 0 ? listed : [answer.retry])
}

function readRetries(values: readonly unknown[]): readonly Retry[] {
  return values.flatMap((value) => {
    if (!isRecord(value) || typeof value.instruction !== 'string') return []
    const instruction = value.instruction.trim()
    return instruction ? [{ ...value, instruction }] : []
  })
}

export const agentRows = {
  before_agent_start: defineEvent({
    about:
      'An agent is about to start; the older form of before_model_resolve and before_prompt_build in one.',
    mode: 'transform',
    payload: shape({ prompt: text, runId: optional(text), messages: optional(list()) }),
    fields: { ...promptEventFields, ...modelFields },
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
