import { randomUUID } from 'node:crypto'
import { after } from '../engine/core/after.ts'
import { isRecord } from '../engine/core/check.ts'
import type { Clock } from '../engine/core/clock.ts'
import type { RpcMessage } from './rpc/packet.ts'

/** A person who is away is a no. */
const ANSWER_MS = 5 * 60_000
const MAX_SHOWN = 1_000

export interface ApprovalQuestion {
  readonly text: string
  readonly tool: string
  readonly input: unknown
}

/** Asks the person at the client, by a request of our own that the server does not hear of. */
export class ApprovalRequests {
  readonly #clock: Clock
  readonly #waiting = new Map<string, (answer: RpcMessage) => void>()
  readonly #closed = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the person agreed. */
  ask(question: ApprovalQuestion, send: (text: string) => void, caller: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([caller, this.#closed.signal])
    return new Promise((resolve) => {
      const id = `hookhelm-${randomUUID()}`
      const settle = (agreed: boolean) => {
        if (!this.#waiting.delete(id)) return
        callOff()
        signal.removeEventListener('abort', giveUp)
        resolve(agreed)
      }
      const giveUp = () => {
        const params = { requestId: id, reason: 'nobody waits for the answer any more' }
        send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
        settle(false)
      }
      const callOff = after(this.#clock, ANSWER_MS, giveUp)
      this.#waiting.set(id, ({ result }) => settle(isRecord(result) && result.action === 'accept'))
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) settle(false)
      else send(requestText(id, question))
    })
  }

  /** Nobody will answer any more. */
  close(): void {
    this.#closed.abort()
  }

  /** Takes an answer of the client; false when it is one for the server. */
  take(id: unknown, answer: RpcMessage): boolean {
    const settle = typeof id === 'string' ? this.#waiting.get(id) : undefined
    settle?.(answer)
    return settle !== undefined
  }
}

/** Forms are what a client supports that says nothing more. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
  return isRecord(elicitation) && (isRecord(elicitation.form) || !('url' in elicitation))
}

function requestText(id: string, { text, tool, input }: ApprovalQuestion): string {
  const written = JSON.stringify(input)
  const rest = written.length - MAX_SHOWN
  const shown = rest > 0 ? `${written.slice(0, MAX_SHOWN)}… and ${rest} characters more` : written
  const message = `${text}\n\n${tool} ${shown}`
  const params = { message, requestedSchema: { type: 'object', properties: {} } }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params })
}
