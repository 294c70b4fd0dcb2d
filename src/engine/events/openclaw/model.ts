import { defineEvent } from '../../core/event.ts'
import { anything, list, number, object, oneOf, optional, shape, text } from '../../core/schema/check.ts'

export interface TokenUsage {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly total?: number
}

const modelCall = {
  runId: text,
  callId: text,
  sessionKey: optional(text),
  sessionId: optional(text),
  provider: text,
  model: text,
  api: optional(text),
  transport: optional(text),
}

const exchange = { runId: text, sessionId: text, provider: text, model: text }

export const modelRows = {
  model_call_started: defineEvent({
    about: 'A request to a model has been sent; metadata only.',
    mode: 'observe',
    payload: shape(modelCall),
    subject: 'model',
  }),
  model_call_ended: defineEvent({
    about: 'A request to a model has ended; metadata only.',
    mode: 'observe',
    payload: shape({
      ...modelCall,
      durationMs: number,
      outcome: oneOf('completed', 'error'),
      errorCategory: optional(text),
      failureKind: optional(
        oneOf('aborted', 'connection_closed', 'connection_reset', 'terminated', 'timeout'),
      ),
      requestPayloadBytes: optional(number),
      responseStreamBytes: optional(number),
      timeToFirstByteMs: optional(number),
      upstreamRequestIdHash: optional(text),
    }),
    subject: 'model',
  }),
  llm_input: defineEvent({
    about: 'Exactly what is sent to the model.',
    mode: 'observe',
    payload: shape({
      ...exchange,
      systemPrompt: optional(text),
      prompt: text,
      historyMessages: list(),
      imagesCount: number,
    }),
    subject: 'model',
  }),
  llm_output: defineEvent({
    about: 'Exactly what came back from the model.',
    mode: 'observe',
    payload: shape({
      ...exchange,
      resolvedRef: optional(text),
      harnessId: optional(text),
      prompt: optional(text),
      assistantTexts: list<string>(),
      lastAssistant: anything,
      usage: optional(object<TokenUsage>()),
    }),
    subject: 'model',
  }),
}
