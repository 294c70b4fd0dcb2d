import type { EventPayload } from '../client/client.ts'
import type { Decider } from '../client/decider.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision, Kind } from '../engine/core/decision.ts'
import { errorText, HookError } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { scanJson } from '../safe/json-scan.ts'
import { redact } from '../safe/secrets/redact.ts'
import type { McpToolCall } from './pending-requests.ts'
import {
  detachBlobs,
  errorResult,
  type McpResult,
  mcpResultFrom,
  resultText,
  resultWithContext,
  resultWithOpened,
} from './tool-result.ts'

/** The decision about a call that the server has not seen yet. */
export interface CallDecision {
  readonly kind: Kind
  /** The reason, for the model and the person. */
  readonly text: string
  /** Replaces the arguments. */
  readonly input?: Readonly<Record<string, unknown>>
  readonly context: readonly string[]
  readonly opened?: string
}

export interface CallGateOptions {
  readonly decider: Pick<Decider, 'decide' | 'limits'>
  readonly clock: Clock
  /** Allow calls if no decision can be made. */
  readonly failOpen: boolean
  /** Prints a warning. */
  warn(line: string): void
}

type DecidedCall = Pick<McpToolCall, 'tool' | 'input' | 'useId'>

/**
 * Dispatches the events of tool calls. If no decision can be made, it blocks the call or withholds the result, unless
 * `failOpen` is set.
 */
export class CallGate {
  readonly #options: CallGateOptions

  constructor(options: CallGateOptions) {
    this.#options = options
  }

  /** With `mayWait`, people answer at the gateway if a hook asks: the client cannot ask its own. */
  async before(
    call: DecidedCall,
    envelope: Envelope,
    { signal, mayWait }: { readonly signal: AbortSignal; readonly mayWait: boolean },
  ): Promise<CallDecision> {
    try {
      const event = { event: 'pre_tool_use', payload: payloadOf(call), mayWait } as const
      return callDecisionOf(await this.#send(event, envelope, signal))
    } catch (thrown) {
      const why = oneLine(thrown)
      if (!this.#options.failOpen || signal.aborted)
        return { kind: 'block', text: `hookhelm: blocked, no decision: ${why}`, context: [] }
      this.#options.warn(`${call.tool} is allowed without a decision (--fail-open): ${why}`)
      return { kind: 'allow', text: '', context: [], opened: why }
    }
  }

  /** Returns the result that the client receives, or undefined if the server's result stays. */
  async after(call: McpToolCall, result: McpResult): Promise<McpResult | undefined> {
    const hasResultType = call.request !== undefined
    if (result.isError === true) {
      const context = await this.failed(call, resultText(result))
      return this.#changed(result, result, call, context)
    }
    const { result: tool_response, restore } = detachBlobs(result)
    const duration_ms = this.#options.clock.elapsed() - call.began
    const payload = { ...payloadOf(call), tool_response, duration_ms }
    try {
      const decision = await this.#send({ event: 'post_tool_use', payload }, call.envelope, never)
      if (decision.kind !== 'allow')
        return withheld(decision.message ?? decision.reason ?? 'a hook gave no reason', hasResultType)
      const given = decision.input === undefined ? result : mcpResultFrom(restore(decision.input), result)
      return this.#changed(result, given, call, decision.context)
    } catch (thrown) {
      const why = oneLine(thrown)
      // Stopping the gateway must not be a way around a hook that redacts.
      if (!this.#options.failOpen) return withheld(`no decision: ${why}`, hasResultType)
      this.#options.warn(`the result of ${call.tool} is delivered unchecked (--fail-open): ${why}`)
      return this.#changed(result, result, { ...call, opened: call.opened ?? why }, [])
    }
  }

  /** Returns the context that hooks add to a failure. A failure has no result to withhold, so no decision is needed. */
  async failed(call: McpToolCall, error: unknown): Promise<readonly string[]> {
    try {
      const payload = { ...payloadOf(call), error }
      const { context } = await this.#send({ event: 'post_tool_use_failure', payload }, call.envelope, never)
      return context ?? []
    } catch (thrown) {
      this.#options.warn(`no hook received the failure of ${call.tool}: ${oneLine(thrown)}`)
      return []
    }
  }

  /** Dispatches an event whose decision changes nothing. */
  async observe(event: McpEvent, envelope: Envelope, signal: AbortSignal): Promise<void> {
    try {
      await this.#send(event, envelope, signal)
    } catch (thrown) {
      this.#options.warn(`no hook received ${event.event}: ${oneLine(thrown)}`)
    }
  }

  #changed(
    original: McpResult,
    given: McpResult,
    call: McpToolCall,
    context: readonly string[] = [],
  ): McpResult | undefined {
    const result = resultWithOpened(resultWithContext(given, [...call.context, ...context]), call.opened)
    return result === original ? undefined : result
  }

  async #send(
    event: McpEvent & { readonly mayWait?: boolean },
    envelope: Envelope,
    signal: AbortSignal,
  ): Promise<Decision> {
    const { decider } = this.#options
    if (decider.limits !== undefined) checkSize({ ...event, envelope }, decider.limits)
    return decider.decide({ ...event, envelope, signal })
  }
}

const never = new AbortController().signal
/** Bytes that the gateway client adds around an event. */
const REQUEST_OVERHEAD = 256

/** Throws before sending: the gateway closes the connection on a line that is too large, which fails all other calls. */
function checkSize(event: object, limits: NonNullable<Decider['limits']>): void {
  const text = JSON.stringify(event)
  if (Buffer.byteLength(text) > limits.maxBytes - REQUEST_OVERHEAD)
    throw new HookError('input.too_large', `the event has more than ${limits.maxBytes} bytes`)
  scanJson(text, limits)
}

function payloadOf({ tool, input, useId }: DecidedCall) {
  return { tool_name: tool, tool_input: input, tool_use_id: useId }
}

function callDecisionOf(decision: Decision): CallDecision {
  const { kind, message, reason, input, context = [] } = decision
  return {
    kind,
    text: message ?? reason ?? 'a hook gave no reason',
    context,
    ...(isRecord(input) && { input }),
  }
}

function withheld(why: string, hasResultType: boolean): McpResult {
  return errorResult(`hookhelm: the tool ran, but its result was withheld: ${why}`, hasResultType)
}

function oneLine(thrown: unknown): string {
  return redact(errorText(thrown))
}

type McpEventName =
  | 'session_start'
  | 'session_end'
  | 'notification'
  | 'pre_tool_use'
  | 'post_tool_use'
  | 'post_tool_use_failure'

/** The events of an MCP connection. */
export type McpEvent = {
  readonly [K in McpEventName]: { readonly event: K; readonly payload: EventPayload<K> }
}[McpEventName]
