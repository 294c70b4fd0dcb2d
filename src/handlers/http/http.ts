import { isUtf8 } from 'node:buffer'
import { isRecord } from '../../engine/core/check.ts'
import { type Clock, systemClock } from '../../engine/core/clock.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Handler, HandlerCall } from '../../engine/core/handler.ts'
import type { OutboundAnswer } from '../../safe/outbound/exchange.ts'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  requireSuccess,
} from '../../safe/outbound/outbound.ts'
import { redactLines, refusal } from '../block-answer.ts'
import { readAnswer } from '../read-answer.ts'
import { type HttpConfig, readHttpConfig } from './config.ts'
import { deliver } from './deliver.ts'
import { type Decrypt, type Message, writeMessage } from './message.ts'

export interface HttpHandlerOptions {
  /** The rules of the way out, or a way out that others use too. */
  readonly outbound?: OutboundOptions | Outbound
  readonly decrypt?: Decrypt
  readonly clock?: Clock
}

type Call = HandlerCall<HttpConfig>

/** Posts the event to a webhook and reads the decision from its answer. */
export function createHttpHandler(
  options: HttpHandlerOptions = {},
): Handler<HttpConfig> & { dispose(): Promise<void> } {
  const { decrypt, clock = systemClock } = options
  const isShared = options.outbound !== undefined && 'request' in options.outbound
  const outbound = isShared ? options.outbound : createOutbound(options.outbound)
  return {
    type: 'http',
    timeoutCode: 'outbound.timeout',
    read: (config) => readHttpConfig(config, outbound.refuse),
    async run(call) {
      const message = await writeMessage(call, decrypt)
      const answered = deliver(call, message, { outbound, clock })
      if (call.config.format === 'openharness') return passOrFail(call, message, answered)
      return decision(call, message, await answered)
    },
    dispose: async () => {
      if (!isShared) await outbound.dispose()
    },
  }
}

function decision(call: Call, message: Message, { status, body }: OutboundAnswer): unknown {
  requireSuccess(status, call.config.url.host)
  const result = readAnswer(withoutSecrets(body, message), call, { sent: message.body })
  // A block stands in any encoding; anything else might have been changed by reading it wrongly.
  if (isRecord(result) && result.kind !== 'block' && !isUtf8(body))
    throw new HookError('handler.result', 'the answer is not UTF-8')
  return result
}

/** A receiver that answers what it was sent must not carry our secrets into records and to the model. */
function withoutSecrets(body: Buffer, { secrets }: Message): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[REDACTED]'), body.toString('utf8'))
}

/** OpenHarness: success is a 2xx; what the body says is only the reason, and only `block_on_failure` blocks. */
async function passOrFail(
  { config, context, hook }: Call,
  message: Message,
  answered: Promise<OutboundAnswer>,
): Promise<unknown> {
  try {
    const { status, body } = await answered
    if (status >= 200 && status < 300) return undefined
    const said = redactLines(withoutSecrets(body, message).trim())
    if (config.mayBlock) return refusal('block', { reason: said || `http hook returned ${status}` }, hook)
    return requireSuccess(status, config.url.host)
  } catch (thrown) {
    // The engine counts and shows what a policy let pass; without one the failure must not close the gate.
    if (config.mayBlock || hook.on_error === 'allow' || !(thrown instanceof HookError)) throw thrown
    context.report({ failed: true, code: thrown.code })
    return undefined
  }
}
