import { McpSession, type McpSessionOptions } from '../mcp-session.ts'

const MAX_SESSIONS = 10_000

/** The sessions of a server by their `mcp-session-id`. */
export class ProxySessions {
  readonly #options: McpSessionOptions
  readonly #known = new Map<string, McpSession>()
  /** The latest client of a server that uses no session ids. */
  #withoutId: McpSession

  constructor(options: McpSessionOptions) {
    this.#options = options
    this.#withoutId = new McpSession(options)
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
    const all = [this.#withoutId, ...this.#known.values()]
    this.#known.clear()
    await Promise.all(all.map((session) => session.end('other')))
  }
}
