import { defineEvent } from '../../core/event.ts'
import { flag, number, object, oneOf, optional, shape, text } from '../../core/schema/check.ts'

export type CronRunStatus = 'ok' | 'error' | 'skipped'
export type CronDeliveryStatus = 'not-requested' | 'delivered' | 'not-delivered' | 'unknown'

export interface CronJobState {
  readonly nextRunAtMs?: number
  readonly runningAtMs?: number
  readonly lastRunAtMs?: number
  readonly lastRunStatus?: CronRunStatus
  readonly lastError?: string
  readonly lastDurationMs?: number
}

export interface CronJob {
  readonly id: string
  readonly agentId?: string
  readonly name?: string
  readonly description?: string
  readonly enabled?: boolean
  readonly schedule?:
    | { readonly kind: 'cron'; readonly expr?: string; readonly tz?: string; readonly staggerMs?: number }
    | { readonly kind: 'at'; readonly at?: string }
    | { readonly kind: 'every'; readonly everyMs?: number; readonly anchorMs?: number }
  readonly sessionTarget?: string
  readonly wakeMode?: string
  readonly payload?: { readonly kind?: string; readonly text?: string }
  readonly state?: CronJobState
  readonly createdAtMs?: number
  readonly updatedAtMs?: number
}

export const gatewayRows = {
  gateway_start: defineEvent({
    about: 'The gateway listens.',
    mode: 'observe',
    payload: shape({ port: number }),
  }),
  gateway_stop: defineEvent({
    about: 'The gateway is stopping.',
    mode: 'observe',
    payload: shape({ reason: optional(text) }),
    subject: 'reason',
  }),
  cron_changed: defineEvent({
    about: 'A scheduled job was changed, started or finished.',
    mode: 'observe',
    payload: shape({
      action: oneOf('added', 'updated', 'removed', 'started', 'finished'),
      jobId: text,
      job: optional(object<CronJob>()),
      sessionTarget: optional(text),
      agentId: optional(text),
      runAtMs: optional(number),
      durationMs: optional(number),
      status: optional(oneOf('ok', 'error', 'skipped')),
      error: optional(text),
      summary: optional(text),
      delivered: optional(flag),
      deliveryStatus: optional(oneOf('not-requested', 'delivered', 'not-delivered', 'unknown')),
      deliveryError: optional(text),
      sessionId: optional(text),
      sessionKey: optional(text),
      runId: optional(text),
      nextRunAtMs: optional(number),
      model: optional(text),
      provider: optional(text),
    }),
    subject: 'action',
  }),
}
