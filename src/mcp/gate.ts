import type { Decider } from '../client/decider.ts'
import type { Clock } from '../engine/core/clock.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { errorText, HookError } from '../engine/core/error.ts'
import { scanJson } from '../safe/json-scan.ts'
import { redact } from '../safe/redact.ts'
import { withoutBlobs } from './blobs.ts'
import type { McpToolCall } from './calls.ts'
import type { McpEvent } from './mcp-event.ts'
import {
  errorResult,
  type McpResult,
  mcpResultFrom,
  resultText,
  resultWithContext,
  withOpened,
} from './result.ts'

/** What hooks say about a call that the server has not seen yet. */
export interface CallVerdict {
  readonly kind: 'allow' | 'ask' | 'block'
  /** For the model and the person. */
  readonly text: string
  /** The arguments to use instead. */
  readonly input?: Readonly<Record<string, unknown>>
  readonly context: readonly string[]
  readonly opened?: string
}

export interface GateOptions {
  readonly decider: Pick<Decider, 'decide' | 'limits'>
  readonly clock: Clock
  /** Let calls pass if no decision is made. */
  readonly failOpen: boolean
  /** A line for the person. */
  tell(line: string): void
}

type Asked = Pick<McpToolCall, 'tool' | 'input' | 'useId'>

/** Asks the hooks, and knows what it means when nobody answers. */
export class CallGate {
  readonly #options: GateOptions

  constructor(options: GateOptions) {
    this.#options = options
  }

  async before(call: Asked, envelope: Envelope, signal: AbortSignal): Promise<CallVerdict> {
    try {
      const payload = payloadOf(call)
      return verdictOf(await this.#send({ event: 'pre_tool_use', payload }, envelope, signal))
    } catch (thrown) {
      const why = oneLine(thrown)
      if (!this.#options.failOpen || signal.aborted)
        return { kind: 'block', text: `hookhelm: blocked, no decision: ${why}`, context: [] }
      this.#options.tell(`${call.tool} goes on although nobody decided (--fail-open): ${why}`)
      return { kind: 'allow', text: '', context: [], opened: why }
    }
  }

  /** The result as the client is to see it; nothing when it is the one that came. */
  async after(call: McpToolCall, result: McpResult, envelope: Envelope): Promise<McpResult | undefined> {
    if (result.isError === true) {
      const context = await this.failed(call, resultText(result), envelope)
      return this.#changed(result, result, call, context)
    }
    const { result: light, restore } = withoutBlobs(result)
    const duration_ms = this.#options.clock.elapsed() - call.began
    const payload = { ...payloadOf(call), tool_response: light, duration_ms }
    try {
      const decision = await this.#send({ event: 'post_tool_use', payload }, envelope, never)
      if (decision.kind !== 'allow') return withheld(decision.message ?? decision.reason ?? 'a hook says so')
      const given = decision.input === undefined ? result : mcpResultFrom(restore(decision.input), result)
      return this.#changed(result, given, call, decision.context)
    } catch (thrown) {
      const why = oneLine(thrown)
      // A hook that redacts must not be got round by stopping the gateway.
      if (!this.#options.failOpen) return withheld(`no decision: ${why}`)
      this.#options.tell(`the result of ${call.tool} goes on although nobody saw it (--fail-open): ${why}`)
      return this.#changed(result, result, { ...call, opened: call.opened ?? why }, [])
    }
  }

  /** What hooks have to say about a failure. There is nothing to keep from anybody, so silence changes nothing. */
  async failed(call: McpToolCall, error: unknown, envelope: Envelope): Promise<readonly string[]> {
    try {
      const payload = { ...payloadOf(call), error }
      const { context } = await this.#send({ event: 'post_tool_use_failure', payload }, envelope, never)
      return context ?? []
    } catch (thrown) {
      this.#options.tell(`the failure of ${call.tool} was told to nobody: ${oneLine(thrown)}`)
      return []
    }
  }

  /** An event that can change nothing. */
  async observe(event: McpEvent, envelope: Envelope, signal: AbortSignal): Promise<void> {
    try {
      await this.#send(event, envelope, signal)
    } catch (thrown) {
      this.#options.tell(`${event.event} was told to nobody: ${oneLine(thrown)}`)
    }
  }

  #changed(
    original: McpResult,
    given: McpResult,
    call: McpToolCall,
    context: readonly string[] = [],
  ): McpResult | undefined {
    const result = withOpened(resultWithContext(given, [...call.context, ...context]), call.opened)
    return result === original ? undefined : result
  }

  async #send(event: McpEvent, envelope: Envelope, signal: AbortSignal): Promise<Decision> {
    const { decider } = this.#options
    if (decider.limits !== undefined) checkSize({ ...event, envelope }, decider.limits)
    return decider.decide({ ...event, envelope, signal })
  }
}

const never = new AbortController().signal
/** For what the client adds around an event. */
const SLACK = 256

/** Looked at here: a gateway that gets a line it cannot take ends the connection, and with it every other call. */
function checkSize(event: object, limits: NonNullable<Decider['limits']>): void {
  const text = JSON.stringify(event)
  if (Buffer.byteLength(text) > limits.maxBytes - SLACK)
    throw new HookError('input.too_large', `the event has more than ${limits.maxBytes} bytes`)
  scanJson(text, limits)
}

function payloadOf({ tool, input, useId }: Asked) {
  return { tool_name: tool, tool_input: input, tool_use_id: useId }
}

function verdictOf(decision: Decision): CallVerdict {
  const { kind, message, reason, input: patch, context = [] } = decision
  return {
    kind,
    text: message ?? reason ?? 'a hook says so',
    context,
    ...(patch === undefined ? {} : { input: patch as Readonly<Record<string, unknown>> }),
  }
}

function withheld(why: string): McpResult {
  return errorResult(`hookhelm: the tool ran, but its result was withheld: ${why}`)
}

function oneLine(thrown: unknown): string {
  return redact(errorText(thrown))
}
