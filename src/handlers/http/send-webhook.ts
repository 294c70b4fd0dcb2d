import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import { pause } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { OutboundAnswer } from '../../safe/outbound/exchange.ts'
import type { Outbound } from '../../safe/outbound/outbound.ts'
import type { HttpConfig } from './http-config.ts'
import type { WebhookMessage } from './webhook-message.ts'

const RETRY_MS = 1_000

/** Failures of the connection that may be over a second later. */
const temporary: readonly string[] = ['outbound.connection', 'outbound.dns']

/** Sends the message, and once more after a second if the receiver or the connection failed and there is time. */
export async function sendWebhook(
  call: HandlerCall<HttpConfig>,
  message: WebhookMessage,
  sender: { readonly outbound: Outbound; readonly clock: Clock },
): Promise<OutboundAnswer> {
  const { config, context } = call
  const { timeoutMs } = context
  const { clock } = sender
  const started = clock.elapsed()
  const isTimeLeft = () => clock.elapsed() - started + RETRY_MS < timeoutMs
  for (let attempt = 1; ; attempt++) {
    context.report({ attempts: attempt })
    const outcome = await sendOnce(call, message, sender)
    const failed = outcome instanceof HookError || outcome.status >= 500
    const again = failed && attempt === 1 && config.format !== 'openharness' && isTimeLeft()
    if (again) {
      await pause(clock, RETRY_MS, context.signal).catch(() => {
        throw handlerError('outbound.timeout', 'the deadline passed before the second attempt')
      })
    } else if (outcome instanceof HookError) throw outcome
    else return outcome
  }
}

/** The answer with any status, or a temporary failure. */
async function sendOnce(
  { config, context }: HandlerCall<HttpConfig>,
  message: WebhookMessage,
  { outbound, clock }: Parameters<typeof sendWebhook>[2],
): Promise<OutboundAnswer | HookError> {
  try {
    const headers = message.headers(clock.now())
    const answer = await outbound.request({
      url: config.url,
      method: config.method,
      headers,
      body: message.body,
      signal: context.signal,
    })
    context.report({ http_status: answer.status, response_len: answer.body.length })
    return answer
  } catch (thrown) {
    if (thrown instanceof HookError && temporary.includes(thrown.code)) return thrown
    throw thrown
  }
}
