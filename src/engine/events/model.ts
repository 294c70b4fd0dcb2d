import { defineEvent } from '../core/event.ts'
import { object, optional, shape, text } from '../core/schema/check.ts'

const modelSwitch = { from_model: optional(text), to_model: optional(text), source: optional(text) }

export const modelEvents = {
  model_request: defineEvent({
    about: 'Before a request goes to a model.',
    mode: 'transform',
    payload: shape({ model: optional(text), request: object<object>() }),
    rewrites: 'request',
    subject: 'model',
    aliases: ['BeforeModel', 'chat.params'],
  }),
  model_response: defineEvent({
    about: 'Before the answer of a model is used.',
    mode: 'transform',
    payload: shape({ model: optional(text), response: object<object>() }),
    rewrites: 'response',
    subject: 'model',
    aliases: ['AfterModel'],
  }),
  pre_model_switch: defineEvent({
    about: 'The agent is about to change its model.',
    mode: 'observe',
    payload: shape(modelSwitch),
    subject: 'to_model',
  }),
  post_model_switch: defineEvent({
    about: 'The agent changed its model.',
    mode: 'observe',
    payload: shape(modelSwitch),
    subject: 'to_model',
  }),
}
