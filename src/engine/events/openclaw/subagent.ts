import { defineEvent, field, type MergeResults } from '../../core/event.ts'
import { first, sticky } from '../../core/merge.ts'
import { flag, number, object, oneOf, optional, shape, text } from '../../core/schema/check.ts'
import type { Address } from './message-parts.ts'

const spawn = {
  childSessionKey: text,
  agentId: text,
  label: optional(text),
  mode: oneOf('run', 'session'),
  requester: optional(object<Address>()),
  threadRequested: flag,
}

/** The first error wins; otherwise the thread is ready if one plugin made it ready. */
const mergeSpawning: MergeResults = (before, next) => {
  if (before?.status === 'error') return before
  if (next.status === 'error') return next
  const deliveryOrigin = before?.deliveryOrigin ?? next.deliveryOrigin
  return {
    status: 'ok',
    threadBindingReady: Boolean(before?.threadBindingReady || next.threadBindingReady),
    ...(deliveryOrigin ? { deliveryOrigin } : {}),
  }
}

/** The first result with an origin wins as a whole. */
const mergeDeliveryTarget: MergeResults = (before, next) => (before?.origin ? before : next)

export const subagentRows = {
  subagent_spawning: defineEvent({
    about: 'A sub-agent is about to be started; channels bind its thread.',
    mode: 'transform',
    payload: shape(spawn),
    fields: {
      status: field(oneOf('ok', 'error'), first),
      error: field(text, first),
      threadBindingReady: field(flag, sticky),
      deliveryOrigin: field(object<Address>(), first),
    },
    merge: mergeSpawning,
    subject: 'agentId',
  }),
  subagent_delivery_target: defineEvent({
    about: 'It is being decided where the answer of a sub-agent goes.',
    mode: 'transform',
    payload: shape({
      childSessionKey: text,
      requesterSessionKey: text,
      requesterOrigin: optional(object<Address>()),
      childRunId: optional(text),
      spawnMode: optional(oneOf('run', 'session')),
      expectsCompletionMessage: flag,
    }),
    fields: { origin: field(object<Address>(), first) },
    merge: mergeDeliveryTarget,
    subject: 'childSessionKey',
  }),
  subagent_spawned: defineEvent({
    about: 'A sub-agent was started.',
    mode: 'observe',
    payload: shape({ ...spawn, runId: text }),
    subject: 'agentId',
  }),
  subagent_ended: defineEvent({
    about: 'A sub-agent has ended.',
    mode: 'observe',
    payload: shape({
      targetSessionKey: text,
      targetKind: oneOf('subagent', 'acp'),
      reason: text,
      sendFarewell: optional(flag),
      accountId: optional(text),
      runId: optional(text),
      endedAt: optional(number),
      outcome: optional(oneOf('ok', 'error', 'timeout', 'killed', 'reset', 'deleted')),
      error: optional(text),
    }),
    subject: 'targetKind',
  }),
}
