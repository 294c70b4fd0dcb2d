import { defineEvent, field } from '../../core/event.ts'
import { first, join } from '../../core/merge.ts'
import { list, optional, shape, text } from '../../core/schema/check.ts'

export interface Attachment {
  readonly kind: 'image' | 'video' | 'audio' | 'document' | 'other'
  readonly mimeType?: string
}

/** Text that a plugin queued for the next turn. */
export interface QueuedInjection {
  readonly id: string
  readonly pluginId: string
  readonly pluginName?: string
  readonly text: string
  readonly placement: 'prepend_context' | 'append_context'
  readonly idempotencyKey?: string
  readonly priority?: number
  readonly ttlMs?: number
  readonly createdAt: number
  readonly metadata?: unknown
}

export const modelFields = {
  modelOverride: field(text, first),
  providerOverride: field(text, first),
}

const contextFields = {
  prependContext: field(text, join),
  appendContext: field(text, join),
}

export const promptEventFields = {
  systemPrompt: field(text, first),
  ...contextFields,
  prependSystemContext: field(text, join),
  appendSystemContext: field(text, join),
}

export const promptRows = {
  before_model_resolve: defineEvent({
    about: 'Provider and model are about to be chosen for a run.',
    mode: 'transform',
    payload: shape({ prompt: text, attachments: optional(list<Attachment>()) }),
    fields: modelFields,
  }),
  agent_turn_prepare: defineEvent({
    about: 'A turn is being prepared, with the text plugins had queued for it.',
    mode: 'transform',
    payload: shape({ prompt: text, messages: list(), queuedInjections: list<QueuedInjection>() }),
    fields: contextFields,
  }),
  before_prompt_build: defineEvent({
    about: 'The session is loaded and the prompt is about to be built.',
    mode: 'transform',
    payload: shape({ prompt: text, messages: list() }),
    fields: promptEventFields,
  }),
  heartbeat_prompt_contribution: defineEvent({
    about: 'A heartbeat prompt is being put together.',
    mode: 'transform',
    payload: shape({ sessionKey: optional(text), agentId: optional(text), heartbeatName: optional(text) }),
    fields: contextFields,
    subject: 'heartbeatName',
  }),
}
