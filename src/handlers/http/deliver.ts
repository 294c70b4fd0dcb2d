import type { Clock } from '../../engine/core/clock.ts'
import { HookError } from '../../engine/core/error.ts'
import type { HandlerCall } from '../../engine/core/handler.ts'
import type { OutboundAnswer } from '../../safe/outbound/exchange.ts'
import type { Outbound } from '../../safe/outbound/outbound.ts'
import type { HttpConfig } from './config.ts'
import type { Message } from './message.ts'

const RETRY_MS = 1_000

/** Failures of the way there, which may be over a second later. */
const passing: readonly string[] = ['outbound.connection', 'outbound.dns']

interface Courier {
  readonly outbound: Outbound
  readonly clock: Clock
}

/** Sends, and once more a second later if the receiver or the way to it failed and there is still time. */
export async function deliver(
  call: HandlerCall<HttpConfig>,
  message: Message,
  courier: Courier,
): Promise<OutboundAnswer> {
  const { config, context } = call
  const { timeoutMs } = context
  const { clock } = courier
  const started = clock.elapsed()
  const isTimeLeft = () => clock.elapsed() - started + RETRY_MS < timeoutMs
  for (let attempt = 1; ; attempt++) {
    context.report({ attempts: attempt })
    const outcome = await send(call, message, courier)
    const failed = outcome instanceof HookError || outcome.status >= 500
    const again = failed && attempt === 1 && config.format !== 'openharness' && isTimeLeft()
    if (again) await pause(clock, context.signal)
    else if (outcome instanceof HookError) throw outcome
    else return outcome
  }
}

/** The answer, whatever its status, or a failure that may pass. */
async function send(
  { config, context }: HandlerCall<HttpConfig>,
  message: Message,
  { outbound, clock }: Courier,
): Promise<OutboundAnswer | HookError> {
  try {
    const headers = message.headers(clock.now())
    const answer = await outbound.request({
      url: config.url,
      headers,
      body: message.body,
      signal: context.signal,
    })
    context.report({ http_status: answer.status, response_len: answer.body.length })
    return answer
  } catch (thrown) {
    if (thrown instanceof HookError && passing.includes(thrown.code)) return thrown
    throw thrown
  }
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      ticker.stop()
      signal.removeEventListener('abort', abort)
    }
    const abort = () => {
      stop()
      reject(new HookError('outbound.timeout', 'the deadline passed before the second attempt'))
    }
    const ticker = clock.every(RETRY_MS, () => {
      stop()
      resolve()
    })
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
