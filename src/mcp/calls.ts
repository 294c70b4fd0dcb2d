/** A tool call on its way. */
export interface McpToolCall {
  readonly kind: 'call'
  readonly id: unknown
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly useId: string
  readonly began: number
  /** The answer will be a task, and the result comes with another request. */
  readonly isTask: boolean
  /** What hooks said before the call, for the model to read with the result. */
  readonly context: readonly string[]
  /** Why it went on although nobody decided. */
  readonly opened?: string
}

/** A tool call that hooks are being asked about: the server has not seen it. */
export interface Held {
  readonly kind: 'held'
  readonly id: unknown
  readonly abort: AbortController
}

interface Other {
  readonly kind: 'other' | 'initialize'
  readonly id: unknown
}

export type PendingCall = McpToolCall | Held | Other

const MAX_WAITING = 10_000
const MAX_KEPT = 1_000

/** The requests of one client that wait for an answer, by the key of their id, and the tool calls answered lately. */
export class Calls {
  readonly #waiting = new Map<string, PendingCall>()
  /** A stream that is resumed brings a result once more, and it must pass the hooks once more. */
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

  get(key: string): PendingCall | undefined {
    return this.#waiting.get(key)
  }

  put(key: string, entry: PendingCall): void {
    this.#waiting.set(key, entry)
  }

  forget(key: string): void {
    this.#waiting.delete(key)
  }

  /** What an answer of the server is about. */
  answer(key: string): PendingCall | undefined {
    const entry = this.#waiting.get(key) ?? this.#answered.get(key)
    // The server has not seen it, so the answer is about something else.
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

  /** What was not answered, taken out: nobody will answer it any more. */
  abandon(keys: readonly string[] = [...this.#waiting.keys()]): readonly PendingCall[] {
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
