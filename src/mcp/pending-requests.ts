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
  readonly kind: 'other' | 'initialize'
  readonly id: unknown
}

export type PendingRequest = McpToolCall | HeldCall | OtherRequest

const MAX_WAITING = 10_000
const MAX_KEPT = 1_000

/** The requests of one client that wait for a response, by the key of their id, and the latest answered tool calls. */
export class PendingRequests {
  readonly #waiting = new Map<string, PendingRequest>()
  /** A resumed stream repeats results, and each must pass the hooks again. */
  readonly #answered = new Map<string, McpToolCall>()
  readonly #tasks = new Map<string, McpToolCall>()

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#answered.size === 0
  }

  get isFull(): boolean {
    return this.#waiting.size >= MAX_WAITING
  }

  has(key: string): boolean {
    return this.#waiting.has(key)
  }

  get(key: string): PendingRequest | undefined {
    return this.#waiting.get(key)
  }

  put(key: string, entry: PendingRequest): void {
    this.#waiting.set(key, entry)
  }

  forget(key: string): void {
    this.#waiting.delete(key)
  }

  /** Takes the request that a response of the server belongs to. */
  answer(key: string): PendingRequest | undefined {
    const entry = this.#waiting.get(key) ?? this.#answered.get(key)
    // The server has not seen a held call, so the response belongs to something else.
    if (entry === undefined || entry.kind === 'held') return undefined
    this.#waiting.delete(key)
    if (entry.kind === 'call') keep(this.#answered, key, entry)
    return entry
  }

  task(id: unknown): McpToolCall | undefined {
    return typeof id === 'string' ? this.#tasks.get(id) : undefined
  }

  keepTask(id: string, call: McpToolCall): void {
    keep(this.#tasks, id, call)
  }

  /** Removes and returns requests that will get no response. */
  abandon(keys: readonly string[] = [...this.#waiting.keys()]): readonly PendingRequest[] {
    return keys.flatMap((key) => {
      const entry = this.#waiting.get(key)
      if (entry === undefined) return []
      this.#waiting.delete(key)
      if (entry.kind === 'held') entry.abort.abort()
      return [entry]
    })
  }
}

function keep(map: Map<string, McpToolCall>, key: string, call: McpToolCall): void {
  map.delete(key)
  map.set(key, call)
  const [oldest] = map.keys()
  if (map.size > MAX_KEPT && oldest !== undefined) map.delete(oldest)
}
