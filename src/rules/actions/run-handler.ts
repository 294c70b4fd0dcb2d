import { errorText } from '../../engine/core/errors/error.ts'
import type { Handler, Host } from '../../engine/core/handler.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookChainEvent } from '../compile-rules.ts'
import type { TriggerEnvelope } from '../trigger-rules.ts'
import { type ActionOutcome, executed, failed } from './run-action.ts'

/** A command or webhook that runs for an event, without being a hook of it. */
export interface HandlerRequest {
  readonly tenant: string
  /** Names the sender; receivers recognise a repeated call by it. */
  readonly id: string
  readonly type: 'command' | 'http'
  readonly config: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  readonly event: HookChainEvent
  readonly envelope: TriggerEnvelope
}

export type RunHandler = (request: HandlerRequest) => Promise<ActionOutcome>

/** A deeper event would be skipped, and the depth of the chain was checked before. */
const MAX_DEPTH = 3

/** Runs a handler as a hook of its own. Only its exit code or status counts. */
export function createRunHandler(parts: {
  readonly handlers: readonly Handler[]
  readonly host: Host
  readonly clock: Clock
}): RunHandler {
  return async (request) => {
    const { event, payload } = dispatchedEvent(request.event)
    const hooks = createHooks({ ...parts, breaker: false })
    try {
      const { id, type: handler_type, config, timeoutMs: timeout_ms } = request
      hooks.add({ id, event, handler_type, config, timeout_ms, answer: 'ignore' })
      const { depth = 0, ...envelope } = request.envelope
      const { trace } = await hooks.dispatch(
        event,
        payload as never,
        { ...envelope, depth: Math.min(depth, MAX_DEPTH), tenant: request.tenant },
        { trace: true },
      )
      const execution = trace?.hooks[0]?.executions.at(-1)
      if (execution === undefined) return failed('it did not run')
      const { decision, reason, facts = {} } = execution
      if (decision === 'error' || decision === 'timeout' || decision === 'skipped')
        return failed(reason ?? decision)
      return executed(detailOf(facts))
    } catch (thrown) {
      return failed(errorText(thrown))
    }
  }
}

/** Events that rules know and hooks do not are sent as events of the agent. */
function dispatchedEvent({ eventName, outcome, payload = {} }: HookChainEvent) {
  const isKnown = Object.hasOwn(catalogue, eventName)
  const event = (isKnown ? eventName : 'agent_event') as 'agent_event'
  return { event, payload: isKnown ? { ...payload, outcome } : { ...payload, outcome, name: eventName } }
}

function detailOf(facts: Readonly<Record<string, unknown>>): string {
  if (typeof facts.http_status === 'number') return `The receiver answered ${facts.http_status}`
  return typeof facts.exit_code === 'number'
    ? `The command ended with exit code ${facts.exit_code}`
    : 'It ran'
}
