import { createSharedState, McpSession, type McpSessionOptions } from '../mcp-session.ts'

const MAX_SESSIONS = 10_000

/** The sessions of a server by their `mcp-session-id`. */
export class ProxySessions {
  readonly #options: McpSessionOptions
  readonly #known = new Map<string, McpSession>()
  /** Clients of revision 2026-07-28, which has no sessions, by what they say about themselves. */
  readonly #callers = new Map<string, McpSession>()
  /** The latest client of a server that uses no session ids. */
  #withoutId: McpSession

  constructor(options: McpSessionOptions) {
    this.#options = { ...options, shared: options.shared ?? createSharedState(options) }
    this.#withoutId = this.begin()
  }

  begin(): McpSession {
    return new McpSession(this.#options)
  }

  /** Returns the session with an id. Continues one that is older than the proxy if the server's name is known. */
  find(id: string | undefined): McpSession | undefined {
    if (id === undefined) return this.#withoutId.forNextExchange()
    const known = this.#known.get(id)
    if (known !== undefined || this.#options.server.now === undefined) return known
    const session = this.begin()
    this.keep(id, session)
    return session
  }

  /** Returns a session for one exchange with a client that describes itself in each request. */
  forCaller(caller: string): McpSession {
    const known = this.#callers.get(caller) ?? this.begin()
    this.#callers.delete(caller)
    this.#callers.set(caller, known)
    const [oldest] = this.#callers
    if (this.#callers.size > MAX_SESSIONS && oldest !== undefined) {
      this.#callers.delete(oldest[0])
      void oldest[1].end('other')
    }
    return known.forNextExchange()
  }

  /** Stores a session after the server answered `initialize`, with or without an id. */
  keep(id: string | undefined, session: McpSession): void {
    if (id === undefined) {
      this.#withoutId = session
      return
    }
    this.#known.set(id, session)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_SESSIONS && oldest !== undefined) void this.end(oldest)
  }

  async end(id: string | undefined): Promise<void> {
    const session = id === undefined ? undefined : this.#known.get(id)
    if (id === undefined || session === undefined) return
    this.#known.delete(id)
    await session.end('other')
  }

  async endAll(): Promise<void> {
    const all = [this.#withoutId, ...this.#known.values(), ...this.#callers.values()]
    this.#known.clear()
    this.#callers.clear()
    await Promise.all(all.map((session) => session.end('other')))
  }
}
