import type { Envelope } from '../engine/core/context.ts'
import type { RequestEnvelope } from './messages/request-envelope.ts'

/** A tool call that the server is executing. */
export interface McpToolCall {
  readonly kind: 'call'
  readonly id: unknown
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly useId: string
  readonly began: number
  /** The server answers with a task, and the result comes with a later request. */
  readonly isTask: boolean
  /** Set from revision 2026-07-28 on: results have a `resultType`. */
  readonly request: RequestEnvelope | undefined
  /** The envelope of the events about this call. */
  readonly envelope: Envelope
  /** Returns the state that the client sends with its next request, for a server that asks the client for input. */
  readonly pause?: (serverState: unknown) => string | undefined
  /** Context that hooks added before the call. The model reads it with the result. */
  readonly context: readonly string[]
  /** Why the call was allowed without a decision. */
  readonly opened?: string
}

/** A tool call that waits for the hooks. The server has not seen it. */
export interface HeldCall {
  readonly kind: 'held'
  readonly id: unknown
  readonly abort: AbortController
}

interface OtherRequest {
  /** `own_discover` is a request of the proxy, whose response the client does not see. */
  readonly kind: 'other' | 'initialize' | 'discover' | 'own_discover' | 'tools_list'
  readonly id: unknown
}

/** The client asks how a task is doing. The response may carry the result of the call. */
interface TaskRequest {
  readonly kind: 'task_get'
  readonly id: unknown
  readonly call: McpToolCall
}

export type PendingRequest = McpToolCall | HeldCall | TaskRequest | OtherRequest

const MAX_WAITING = 10_000
const MAX_KEPT = 1_000

/** The requests of one client that wait for a response, by the key of their id, and the latest answered tool calls. */
export class PendingRequests extends Map<string, PendingRequest> {
  /** A resumed stream repeats results, and each must pass the hooks again. */
  readonly #answered = new Map<string, McpToolCall>()

  get isEmpty(): boolean {
    return this.size === 0 && this.#answered.size === 0
  }

  get isFull(): boolean {
    return this.size >= MAX_WAITING
  }

  /** The keys of requests of the proxy itself. */
  get ownKeys(): readonly string[] {
    return [...this].filter(([, { kind }]) => kind === 'own_discover').map(([key]) => key)
  }

  /** Takes the request that a response of the server belongs to. */
  answer(key: string): PendingRequest | undefined {
    const entry = this.get(key) ?? this.#answered.get(key)
    // The server has not seen a held call, so the response belongs to something else.
    if (entry === undefined || entry.kind === 'held') return undefined
    this.delete(key)
    if (entry.kind === 'call') keep(this.#answered, key, entry)
    return entry
  }

  /** Removes and returns requests that will get no response. */
  abandon(keys: readonly string[] = [...this.keys()]): readonly PendingRequest[] {
    return keys.flatMap((key) => {
      const entry = this.get(key)
      if (entry === undefined) return []
      this.delete(key)
      if (entry.kind === 'held') entry.abort.abort()
      return [entry]
    })
  }
}

/** The latest calls that became tasks, by the id of the task. They outlive the exchange in which they were made. */
export class TaskCalls {
  readonly #calls = new Map<string, McpToolCall>()

  get isEmpty(): boolean {
    return this.#calls.size === 0
  }

  get(task: unknown): McpToolCall | undefined {
    return typeof task === 'string' ? this.#calls.get(task) : undefined
  }

  keep(task: string, call: McpToolCall): void {
    keep(this.#calls, task, call)
  }
}

function keep(map: Map<string, McpToolCall>, key: string, call: McpToolCall): void {
  map.delete(key)
  map.set(key, call)
  const [oldest] = map.keys()
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest)
}
