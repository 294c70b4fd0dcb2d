import { randomUUID } from 'node:crypto'
import { isRecord } from '../engine/core/schema/check.ts'
import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { RpcMessage } from './messages/packet.ts'

/** No answer within this time means no. */
const ANSWER_MS = 5 * 60_000
const MAX_SHOWN = 1_000

export interface ApprovalQuestion {
  readonly text: string
  readonly tool: string
  readonly input: unknown
}

/** Asks the person at the client with our own `elicitation/create` requests, which the server never sees. */
export class ApprovalRequests {
  readonly #clock: Clock
  readonly #waiting = new Map<string, (answer: RpcMessage) => void>()
  readonly #closed = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves to whether the person agreed. */
  ask(question: ApprovalQuestion, send: (text: string) => void, caller: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([caller, this.#closed.signal])
    return new Promise((resolve) => {
      const id = `hookhelm-${randomUUID()}`
      const settle = (agreed: boolean) => {
        if (!this.#waiting.delete(id)) return
        cancelTimer()
        signal.removeEventListener('abort', giveUp)
        resolve(agreed)
      }
      const giveUp = () => {
        const params = { requestId: id, reason: 'the answer is no longer needed' }
        send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
        settle(false)
      }
      const cancelTimer = after(this.#clock, ANSWER_MS, giveUp)
      this.#waiting.set(id, ({ result }) => settle(isRecord(result) && result.action === 'accept'))
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) settle(false)
      else send(requestText(id, question))
    })
  }

  /** Settles every open question with no. */
  close(): void {
    this.#closed.abort()
  }

  /** Takes a response of the client. Returns false if it belongs to a request of the server. */
  take(id: unknown, answer: RpcMessage): boolean {
    const settle = typeof id === 'string' ? this.#waiting.get(id) : undefined
    settle?.(answer)
    return settle !== undefined
  }
}

/** Whether the client can show a form. A client that declares no mode supports forms. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = isRecord(capabilities) ? capabilities.elicitation : undefined
  return isRecord(elicitation) && (isRecord(elicitation.form) || !('url' in elicitation))
}

function requestText(id: string, question: ApprovalQuestion): string {
  const params = approvalForm(question)
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params })
}

/** The form that a person accepts or declines. */
export function approvalForm({ text, tool, input }: ApprovalQuestion) {
  const json = JSON.stringify(input)
  const rest = json.length - MAX_SHOWN
  const shown = rest > 0 ? `${json.slice(0, MAX_SHOWN)}… and ${rest} more characters` : json
  return { message: `${text}\n\n${tool} ${shown}`, requestedSchema: { type: 'object', properties: {} } }
}
