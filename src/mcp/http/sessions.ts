import { Session, type SessionOptions } from '../session.ts'

const MAX_SESSIONS = 10_000

/** The sessions of a server, by the id that it gave them. */
export class ProxySessions {
  readonly #options: SessionOptions
  readonly #known = new Map<string, Session>()
  /** Who said hello to a server that keeps no sessions. */
  #nameless: Session

  constructor(options: SessionOptions) {
    this.#options = options
    this.#nameless = new Session(options)
  }

  begin(): Session {
    return new Session(this.#options)
  }

  /** A session that began before we did is taken up, as far as we know how the server is called. */
  find(id: string | undefined): Session | undefined {
    if (id === undefined) return this.#nameless.sibling()
    const known = this.#known.get(id)
    if (known !== undefined || this.#options.server.now === undefined) return known
    const session = this.begin()
    this.keep(id, session)
    return session
  }

  /** The server answered `initialize`, with or without an id. */
  keep(id: string | undefined, session: Session): void {
    if (id === undefined) {
      this.#nameless = session
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
    const all = [this.#nameless, ...this.#known.values()]
    this.#known.clear()
    await Promise.all(all.map((session) => session.end('other')))
  }
}
