import { isUtf8 } from 'node:buffer'
import { HookError } from '../../engine/core/errors/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import type { OutboundAnswer } from '../../safe/outbound/exchange.ts'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  requireSuccess,
} from '../../safe/outbound/outbound.ts'
import { readAgentAnswer } from '../agent/agent-answer.ts'
import { defineHandlerType } from '../handler-type.ts'
import { type FindPayloadShape, outgoingEvent } from '../payload-shapes.ts'
import { readAnswer } from '../read-answer.ts'
import { createRefusal, redactLines } from '../refusal.ts'
import { createRunHookInput, ignoresAnswers } from '../run-hook-input.ts'
import { type HttpConfig, httpSchema, readHttpConfig } from './http-config.ts'
import { sendWebhook } from './send-webhook.ts'
import { createMessage, type MessageSecrets, type WebhookMessage } from './webhook-message.ts'

export interface HttpHandlerOptions extends MessageSecrets {
  /** The rules for outgoing calls, or a client that other handlers share. */
  readonly outbound?: OutboundOptions | Outbound
  readonly clock?: Clock
  /** The forms of events for hooks that were written for an agent. */
  readonly findPayloadShape?: FindPayloadShape
}

type Call = HandlerCall<HttpConfig>

export const httpHandler = defineHandlerType({
  type: 'http',
  about: 'Posts the event to a webhook and reads the decision from its answer.',
  schema: httpSchema,
  create({ outbound: given, clock = systemClock, findPayloadShape, ...secrets }: HttpHandlerOptions) {
    const isShared = given !== undefined && 'request' in given
    const outbound = isShared ? given : createOutbound(given)
    return {
      timeoutCode: 'outbound.timeout',
      read: (settings) => readHttpConfig(settings, outbound.refuse, findPayloadShape),
      async run(call) {
        if (call.config.format === 'run_hook') return askRunHook(call, secrets, { outbound, clock })
        const outgoing = outgoingEvent(call)
        const message = await createMessage(call, outgoing.event, secrets)
        const answered = sendWebhook(call, message, { outbound, clock })
        if (call.config.format === 'openharness') return readOpenHarnessStatus(call, message, answered)
        const seen = { ...outgoing.seen, config: call.config }
        return outgoing.readResult(readWebhookAnswer(seen, message, await answered))
      },
      dispose: async () => {
        if (!isShared) await outbound.dispose()
      },
    }
  },
})

/** A hook of a run: its input is the body, its output the answer. At points that only inform, the status is enough. */
async function askRunHook(
  call: Call,
  secrets: MessageSecrets,
  sender: Parameters<typeof sendWebhook>[2],
): Promise<unknown> {
  const { config, payload, context } = call
  const message = await createMessage(call, createRunHookInput(payload, context), secrets)
  const { status, body } = await sendWebhook(call, message, sender)
  requireSuccess(status, config.url.host)
  if (ignoresAnswers(context.event)) return undefined
  if (!isUtf8(body)) throw new HookError('handler.result', 'the answer is not UTF-8')
  return readAgentAnswer(redactSecrets(body, message), call, () => undefined)
}

function readWebhookAnswer(
  call: Pick<Call, 'config' | 'payload' | 'context' | 'hook'>,
  message: WebhookMessage,
  { status, body }: OutboundAnswer,
): unknown {
  requireSuccess(status, call.config.url.host)
  const result = readAnswer(redactSecrets(body, message), call, { sent: message.body })
  // A block is a block in any encoding. A patch or a note could change if it is decoded wrongly.
  if (isRecord(result) && result.kind !== 'block' && !isUtf8(body))
    throw new HookError('handler.result', 'the answer is not UTF-8')
  return result
}

/** A receiver that echoes the request must not put our secrets into records or in front of a model. */
function redactSecrets(body: Buffer, { secrets }: WebhookMessage): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[REDACTED]'), body.toString('utf8'))
}

/** OpenHarness: a 2xx is success, the body is only the reason, and only `block_on_failure` blocks. */
async function readOpenHarnessStatus(
  { config, context, hook }: Call,
  message: WebhookMessage,
  answered: Promise<OutboundAnswer>,
): Promise<unknown> {
  try {
    const { status, body } = await answered
    if (status >= 200 && status < 300) return undefined
    const text = redactLines(redactSecrets(body, message).trim())
    if (config.mayBlock)
      return createRefusal('block', { reason: text || `http hook returned ${status}` }, hook)
    return requireSuccess(status, config.url.host)
  } catch (thrown) {
    // Without `on_error: allow` the engine would block on a thrown error, so the failure is only reported.
    if (config.mayBlock || hook.on_error === 'allow' || !(thrown instanceof HookError)) throw thrown
    context.report({ failed: true, code: thrown.code })
    return undefined
  }
}
