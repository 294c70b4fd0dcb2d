import type { Decision } from '../../src/engine/core/decision.ts'
import type { BaseHook } from '../../src/engine/core/hook.ts'
import type { Execution } from '../../src/engine/core/records/sink.ts'
import type { Clock } from '../../src/engine/core/time/clock.ts'
import { createHooks } from '../../src/engine/dispatch/hooks.ts'
import { type HttpHandlerOptions, httpHandler } from '../../src/handlers/http/http.ts'
import { type BadReceiver, badReceiver } from '../../src/testing/bad-receiver.ts'
import { recorder } from '../../src/testing/recorder.ts'

export const call = { tool_name: 'Bash', tool_input: { command: 'rm -rf /' } }

interface Asking {
  readonly config?: object
  readonly options?: HttpHandlerOptions
  readonly hook?: Partial<BaseHook>
  readonly clock?: Clock
}

interface Asked {
  readonly decision: Decision
  readonly execution: Execution | undefined
  readonly facts: Execution['facts']
  /** Everything that was recorded, logged or answered, as text. */
  readonly all: string
}

export interface WebhookTest {
  readonly receiver: BadReceiver
  /** Dispatches to one hook that calls this path of the receiver. */
  ask(path: string, asking?: Asking): Promise<Asked>
}

export async function startWebhookTest(): Promise<WebhookTest> {
  const receiver = await badReceiver()
  const ask = async (path: string, { config, options, hook, clock }: Asking = {}): Promise<Asked> => {
    const time = clock === undefined ? {} : { clock }
    const seen = recorder()
    const outbound = { allow: ['127.0.0.1'], log: seen.log }
    const handler = httpHandler.create({ outbound, ...time, ...options })
    const hooks = createHooks({ handlers: [handler], sink: seen.sink, log: seen.log, ...time })
    hooks.add({
      id: 'guard',
      event: 'pre_tool_use',
      handler_type: 'http',
      config: { url: receiver.origin + path, ...config },
      ...hook,
    })
    const envelope = { id: 'event-1', tenant: 'acme', session: 's1' }
    const decision = await hooks.dispatch('pre_tool_use', call, envelope, { trace: true })
    await handler.dispose()
    const execution = seen.dispatches[0]?.executions[0]
    const all = JSON.stringify([decision, seen.dispatches, seen.lines])
    return { decision, execution, facts: execution?.facts, all }
  }
  return { receiver, ask }
}
